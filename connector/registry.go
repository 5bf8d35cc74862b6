package connector

import (
	"fmt"
	"maps"
	"slices"
)

// Registry maps the class names that specs use to factories. It is a value
// that the caller fills and hands to the engine. The zero Registry is empty and
// ready to use.
type Registry struct {
	sources    map[string]SourceFactory
	sinks      map[string]SinkFactory
	storeSinks map[string]StoreSinkFactory
}

// AddSource adds a source class.
func (r *Registry) AddSource(class string, f SourceFactory) error {
	if r.sources == nil {
		r.sources = map[string]SourceFactory{}
	}
	return add(r.sources, "source", class, f, f == nil)
}

// AddSink adds a sink class.
func (r *Registry) AddSink(class string, f SinkFactory) error {
	if _, taken := r.storeSinks[class]; taken {
		return fmt.Errorf("register sink %q: the name is taken", class)
	}
	if r.sinks == nil {
		r.sinks = map[string]SinkFactory{}
	}
	return add(r.sinks, "sink", class, f, f == nil)
}

// AddStoreSink adds a class of sinks in the store.
func (r *Registry) AddStoreSink(class string, f StoreSinkFactory) error {
	if _, taken := r.sinks[class]; taken {
		return fmt.Errorf("register sink %q: the name is taken", class)
	}
	if r.storeSinks == nil {
		r.storeSinks = map[string]StoreSinkFactory{}
	}
	return add(r.storeSinks, "sink", class, f, f == nil)
}

func add[F any](m map[string]F, what, class string, f F, none bool) error {
	if class == "" || none {
		return fmt.Errorf("register %s %q: a class name and a factory are needed", what, class)
	}
	if _, taken := m[class]; taken {
		return fmt.Errorf("register %s %q: the name is taken", what, class)
	}
	m[class] = f
	return nil
}

// Source returns the factory of a source class.
func (r *Registry) Source(class string) (SourceFactory, bool) {
	f, ok := r.sources[class]
	return f, ok
}

// Sink returns the factory of a sink class.
func (r *Registry) Sink(class string) (SinkFactory, bool) {
	f, ok := r.sinks[class]
	return f, ok
}

// StoreSink returns the factory of a class of sinks in the store.
func (r *Registry) StoreSink(class string) (StoreSinkFactory, bool) {
	f, ok := r.storeSinks[class]
	return f, ok
}

// SourceClasses returns the names of all source classes, sorted.
func (r *Registry) SourceClasses() []string { return slices.Sorted(maps.Keys(r.sources)) }

// SinkClasses returns the names of all sink classes, sorted.
func (r *Registry) SinkClasses() []string {
	all := append(slices.Collect(maps.Keys(r.sinks)), slices.Collect(maps.Keys(r.storeSinks))...)
	slices.Sort(all)
	return all
}
