// Package connectortest is the conformance suite of sources and sinks: what the
// package connector asks of them, and exactly once rests on, as tests. Every
// connector runs it.
package connectortest
