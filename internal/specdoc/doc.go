// Command specdoc writes docs/spec.md, the reference of specification files,
// from the code that reads them: the structs with yson tags in spec, schema,
// connector and function, their comments, and their SetDefaults methods. What
// it prints depends on nothing else, so that the gate can compare.
//
//	go generate ./internal/specdoc
package main

//go:generate go run . ../..
