package console

import (
	"cmp"
	"net/http"

	"github.com/rondo-flow/rondo/spec"
	"github.com/rondo-flow/rondo/yson"
)

func (s *Server) visits(r *http.Request) (any, error) {
	in, err := s.opts.Pipeline.SpecInForce(r.Context())
	if err != nil {
		return nil, err
	}
	return VisitsOf(in.Name, true, s.opts.Pipeline.VisitStreams(), s.opts.Now()), nil
}

// named finds the visit stream that a path names.
func (s *Server) named(r *http.Request) (computation, stream string, err error) {
	computation, stream = r.PathValue("computation"), r.PathValue("stream")
	var known []string
	for _, v := range s.opts.Pipeline.VisitStreams() {
		if v.Computation == computation && v.Stream == stream {
			return computation, stream, nil
		}
		known = append(known, v.Computation+"/"+v.Stream)
	}
	name := computation + "/" + stream
	return "", "", failf(http.StatusNotFound, "there is no visit stream %s: %s", name, yson.DidYouMean(name, known))
}

func (s *Server) passes(r *http.Request) (any, error) {
	computation, stream, err := s.named(r)
	if err != nil {
		return nil, err
	}
	parts, err := s.opts.Pipeline.Passes(computation, stream)
	if err != nil {
		return nil, err
	}
	return PassesOf(computation, stream, parts), nil
}

func (s *Server) runNow(r *http.Request) (any, error) {
	var request RunNowRequest
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	computation, stream, err := s.named(r)
	if err != nil {
		return nil, err
	}
	period, err := spec.PassPeriod("period", cmp.Or(request.Period, "0s"))
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.opts.Pipeline.RunNow(r.Context(), computation, stream, period)
}

func outOfRange(path, allowed, format string, args ...any) *Error {
	e := failf(http.StatusBadRequest, format, args...)
	e.Path, e.Range = path, allowed
	return e
}

func (s *Server) setDynamic(r *http.Request) (any, error) {
	var request SetRequest
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	value, err := request.Parsed()
	if err != nil {
		return nil, err
	}
	version, err := s.opts.Pipeline.SetDynamic(r.Context(), request.Path, value, request.Version)
	if err != nil {
		return nil, err
	}
	return &SetAnswer{Version: version}, nil
}

// Parsed reads the value, nil for none.
func (r *SetRequest) Parsed() (*yson.Node, error) {
	if r.Value == nil {
		return nil, nil
	}
	n, err := spec.ParseValue(*r.Value)
	if err != nil {
		return nil, outOfRange(r.Path, "", "%s: %v", r.Path, err)
	}
	return n, nil
}
