package flow

import (
	"fmt"
	"maps"
	"slices"
)

// Registry maps the names that specs use to factories. It is a value that the
// caller fills and hands to the engine; there is no global one. The zero
// Registry is empty and ready to use.
type Registry struct{ factories map[string]Factory }

// Register adds a factory under any name. A name may be used once.
func (r *Registry) Register(name string, f Factory) error {
	if name == "" || f == nil {
		return fmt.Errorf("register function %q: a name and a factory are needed", name)
	}
	if _, taken := r.factories[name]; taken {
		return fmt.Errorf("register function %q: the name is taken", name)
	}
	if r.factories == nil {
		r.factories = map[string]Factory{}
	}
	r.factories[name] = f
	return nil
}

// Lookup returns the factory of a name.
func (r *Registry) Lookup(name string) (Factory, bool) {
	f, ok := r.factories[name]
	return f, ok
}

// Names returns all names, sorted.
func (r *Registry) Names() []string { return slices.Sorted(maps.Keys(r.factories)) }
