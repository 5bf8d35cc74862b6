// Package lint is the gate that keeps the code in its shape. It runs as an
// ordinary test (`go test ./internal/lint`) over the sources of this module.
//
// A rule is a function over the parsed module and has a name, which is also
// the name of its transcript under testdata: small modules that break the
// rule, each beside its exact findings. A rule without a finding in its
// transcript fails the test, because a check that nothing proves can stop
// working unseen.
//
// Sources are parsed, not built, so the gate takes a few seconds and also
// judges a tree that does not compile. Names are resolved inside one package
// at a time; only the pure packages are type-checked with everything they
// import, since nothing else tells a map from a slice.
//
// To add a rule: write its function, add it to Rules, and give it a
// transcript in testdata.
package lint
