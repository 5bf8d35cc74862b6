// Package spec reads pipeline specifications: a map {spec; dynamic_spec; name}
// in YSON, YAML or JSON, with the field names of the system we follow. [Parse]
// fills in defaults, resolves what is implied (dependencies, upstreams, names
// of classes) and validates everything; the problems come all at once, each
// with its path and place.
//
// The struct tags in this package are the reference of field names, ranges and
// words; the SetDefaults methods hold the defaults.
//
// Decisions where the rules leave a choice:
//
//   - Column types of time keep the units of the system we follow (see package
//     schema), an assigner's integer formats are as they say.
//   - A stream of spec.streams that nothing reads, a visit-only computation
//     that will retire after one pass (KV-38), and a visitor that follows its
//     own output (KV-44) are notes, not problems.
//   - What is read and checked but cannot run yet is refused in one place,
//     unavailable.go, so that nothing is accepted silently.
package spec
