// Package spec reads pipeline specifications: a map {spec; dynamic_spec; name}
// in YSON, YAML or JSON, with the field names of the system we follow. [Parse]
// fills in defaults, resolves what is implied (dependencies, upstreams, names
// of classes) and validates everything; the problems come all at once, each
// with its path and place.
//
// The struct tags in this package are the reference of field names, ranges and
// words, the comments say what fields mean, and the SetDefaults methods hold the
// defaults: docs/spec.md is written from all three.
//
// Decisions where the rules leave a choice:
//
//   - A computation may read its own output, as long as the output does not
//     depend on it (KV-44); every other id has one role in a computation.
//   - An output that nothing may be emitted to (KV-41), a stream that nothing
//     reads, a computation of visits alone that retires after one pass (KV-38)
//     and a visitor that follows its own output (KV-44) are notes, not problems.
//   - Class parameters and partition counts are accepted in parameters and
//     beside it, in one of them.
//   - What is read and checked but cannot run yet is refused in one place,
//     unavailable.go, so that nothing is accepted silently.
//   - Types of columns come from type or type_v3; where both are given they
//     agree, and a structured type_v3 is read as the type beside it.
package spec
