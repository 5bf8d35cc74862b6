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
	sources map[string]SourceFactory
	sinks   map[string]SinkFactory
}

// AddSource adds a source class.
func (r *Registry) AddSource(class string, f SourceFactory) error {
	if r.sources == nil {
		r.sources = map[string]SourceFactory{}
	}
	return add(r.sources, "source", class, f)
}

// AddSink adds a sink class.
func (r *Registry) AddSink(class string, f SinkFactory) error {
	if r.sinks == nil {
		r.sinks = map[string]SinkFactory{}
	}
	return add(r.sinks, "sink", class, f)
}

func add[F any](m map[string]F, what, class string, f F) error {
	if class == "" {
		return fmt.Errorf("register %s: a class name is needed", what)
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

// SourceClasses returns the names of all source classes, sorted.
func (r *Registry) SourceClasses() []string { return slices.Sorted(maps.Keys(r.sources)) }

// SinkClasses returns the names of all sink classes, sorted.
func (r *Registry) SinkClasses() []string { return slices.Sorted(maps.Keys(r.sinks)) }
