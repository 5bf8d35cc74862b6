package spec

import (
	"slices"

	"github.com/rondo-flow/rondo/yson"
)

// checkStreams checks the declarations of spec.streams.
func (c *checker) checkStreams() {
	p := &c.spec.Pipeline
	for _, id := range p.StreamIDs() {
		at := c.root.keys("spec", "streams", id)
		if id == "" {
			c.add(at, "a stream needs a name")
		}
		if s := p.Streams[id]; s.Schema != nil {
			c.checkStreamSchema(at.key("schema"), s)
		}
	}
}

func (c *checker) checkStreamSchema(at place, s *Stream) {
	if s.Schema.Len() == 0 {
		c.add(at, "a stream needs at least one column")
	}
	for _, col := range s.Schema.Columns() {
		if col.Expression != "" {
			c.add(at.named(col.Name), "column %s: streams have no expression columns: put it in group_by_schema", col.Name)
		}
		if col.SortOrder != "" {
			c.add(at.named(col.Name), "column %s: streams are not sorted: remove sort_order", col.Name)
		}
	}
}

// checkProducers checks that each stream that is read has one producer.
func (c *checker) checkProducers() {
	p := &c.spec.Pipeline
	producer := map[string]string{}
	for _, id := range p.ComputationIDs() {
		for _, stream := range p.Computations[id].Outputs {
			if first, twice := producer[stream]; twice {
				c.add(c.place(id).key("output_stream_ids").item(stream), "stream %s is written by %s too: one computation writes a stream", stream, first)
				continue
			}
			producer[stream] = id
		}
	}
	for _, id := range p.ComputationIDs() {
		for _, stream := range p.Computations[id].Inputs {
			if _, ok := producer[stream]; !ok && p.Streams[stream] != nil {
				c.add(c.place(id).key("input_stream_ids").item(stream), "no computation writes stream %s: list it in some output_stream_ids", stream)
			}
		}
	}
	c.noteUnread()
}

// noteUnread warns of streams whose rows reach nobody.
func (c *checker) noteUnread() {
	p := &c.spec.Pipeline
	for _, id := range p.StreamIDs() {
		at := c.root.keys("spec", "streams", id)
		producer := p.Producer(id)
		switch {
		case len(p.Consumers(id)) > 0:
		case producer == nil && p.isSource(id):
		case producer == nil:
			c.note(at, "no computation uses this stream")
		case !producer.hasSinkFor(id) && !c.isDeadLetter(producer.ID, id):
			c.note(at, "nothing reads this stream: its rows are dropped")
		}
	}
}

func (comp *Computation) hasSinkFor(stream string) bool {
	for _, sink := range comp.Sinks {
		if slices.Contains(sink.Inputs, stream) {
			return true
		}
	}
	return false
}

func (c *checker) isDeadLetter(computation, stream string) bool {
	d := c.spec.Dynamic.Computations[computation]
	return d != nil && d.DeadLetterStream == stream
}

// checkResources checks spec.resources among themselves.
func (c *checker) checkResources() {
	p := &c.spec.Pipeline
	for _, id := range sorted(p.Resources) {
		at, r := c.root.keys("spec", "resources", id), p.Resources[id]
		if r.PreloadRequired && r.AlwaysOn {
			c.add(at, "preload_required and always_on exclude each other: remove one")
		}
		for _, dep := range sorted(r.Dependencies) {
			if p.Resources[dep] == nil {
				c.add(at.keys("dependencies", dep), "there is no resource %s: %s", dep, yson.DidYouMean(dep, sorted(p.Resources)))
			}
		}
	}
}
