// Package metamorphic has no code but its tests: they run one random history on
// every store, with options that must not matter, and want equal answers.
package metamorphic
