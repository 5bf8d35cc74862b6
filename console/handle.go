package console

import (
	"cmp"
	"net/http"
	"path/filepath"

	"github.com/rondo-flow/rondo/yson"
)

func (s *Server) status(r *http.Request) (any, error) {
	in, err := s.opts.Pipeline.SpecInForce(r.Context())
	if err != nil {
		return nil, err
	}
	pending, err := s.opts.Pipeline.PendingTimers(r.Context())
	if err != nil {
		return nil, err
	}
	state, err := s.opts.Pipeline.State()
	if err != nil {
		return nil, err
	}
	now := s.opts.Pipeline.Status()
	out := StatusOf(now, s.opts.Pipeline.Problems())
	out.Timers = TimersOf(now.Timers, pending)
	out.Pipeline, out.Version, out.Running, out.State = in.Name, in.Version, true, string(state)
	out.Tables = TablesOf(s.opts.Pipeline.JoinedTables())
	return out, nil
}

func (s *Server) spec(r *http.Request) (any, error) {
	in, err := s.opts.Pipeline.SpecInForce(r.Context())
	if err != nil {
		return nil, err
	}
	return &Spec{
		Name: in.Name, Version: in.Version,
		Static: string(yson.Encode(in.Static)), Dynamic: string(yson.Encode(in.Dynamic)),
	}, nil
}

func (s *Server) repartition(r *http.Request) (any, error) {
	var request RepartitionRequest
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	if request.Computation == "" {
		return nil, outOfRange("computation_id", "", "which computation? Name it as computation_id")
	}
	if request.Partitions == nil {
		return nil, outOfRange("partition_count", "", "how many partitions? Give partition_count, 0 for what the dynamic spec says")
	}
	return struct{}{}, s.opts.Pipeline.Repartition(r.Context(), request.Computation, *request.Partitions)
}

func (s *Server) backup(r *http.Request) (any, error) {
	var request BackupRequest
	if err := decode(r, &request); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(request.Dir) {
		return nil, outOfRange("dir", "an absolute path", "%s is no absolute path, which a backup needs: this process has another working folder than you", cmp.Or(request.Dir, "nothing"))
	}
	if s.opts.Backup == nil {
		return nil, failf(http.StatusNotImplemented, "this program makes no backups: stop it and copy its data folder, or set Backup in its console.Options")
	}
	left, err := s.opts.Backup(r.Context(), request.Dir)
	return &BackupAnswer{Left: left}, err
}

// pause and stop answer before the pipeline has ended.
func (s *Server) pause(*http.Request) (any, error) {
	s.opts.Pipeline.Pause()
	return struct{}{}, nil
}

func (s *Server) stop(*http.Request) (any, error) {
	return struct{}{}, s.opts.Pipeline.Stop()
}
