package spec

import (
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/yson"
)

// Class is the kind of a computation.
type Class uint8

// The classes. The companion forms run their functions in a companion process.
const (
	ClassTransform Class = iota + 1
	ClassSwiftMap
	ClassSource
	ClassTransformSource
	ClassPassthrough
	ClassSwiftPassthrough
	ClassSourcePassthrough
	ClassCompanionTransform
	ClassCompanionSwiftMap
	ClassCompanionSource
	ClassCompanionTransformSource

	classCount
)

// classInfo is what the rest of the package knows about a class.
type classInfo struct {
	name, long string
	source     bool // reads source streams, and no inputs, timers, visits
	function   bool // runs a processing function
	companion  bool
}

// classPrefix stands before long names, and may be left out.
const classPrefix = "NYT::NFlow::"

// isClass tells whether a name is one of a class.
func isClass(name, long, short string) bool {
	return name == short || strings.TrimPrefix(name, classPrefix) == long
}

var classInfos = [classCount]classInfo{
	ClassTransform:                {name: "transform", long: "TProcessFunctionComputation", function: true},
	ClassSwiftMap:                 {name: "swift_map", long: "TProcessFunctionSwiftMapComputation", function: true},
	ClassSource:                   {name: "source", long: "TProcessFunctionSourceComputation", source: true, function: true},
	ClassTransformSource:          {name: "transform_source", long: "TProcessFunctionTransformOrderedSourceComputation", source: true, function: true},
	ClassPassthrough:              {name: "passthrough", long: "TPassthroughComputation"},
	ClassSwiftPassthrough:         {name: "swift_passthrough", long: "TSwiftPassthroughComputation"},
	ClassSourcePassthrough:        {name: "source_passthrough", long: "TSwiftPassthroughOrderedSourceComputation", source: true},
	ClassCompanionTransform:       {name: "companion_transform", long: "NCompanion::TTransformCompanionComputation", companion: true},
	ClassCompanionSwiftMap:        {name: "companion_swift_map", long: "NCompanion::TSwiftMapCompanionComputation", companion: true},
	ClassCompanionSource:          {name: "companion_source", long: "NCompanion::TSwiftOrderedSourceCompanionComputation", source: true, companion: true},
	ClassCompanionTransformSource: {name: "companion_transform_source", long: "NCompanion::TTransformOrderedSourceCompanionComputation", source: true, companion: true},
}

// ParseClass returns the class with the given name, of either kind: transform
// or NYT::NFlow::TProcessFunctionComputation, whose prefix may be left out.
func ParseClass(name string) (Class, error) {
	var known []string
	for _, c := range Classes() {
		if isClass(name, classInfos[c].long, c.String()) {
			return c, nil
		}
		known = append(known, c.String(), c.LongName())
	}
	if near := yson.Suggest(name, known); near != "" {
		return 0, fmt.Errorf("unknown computation class %q: did you mean %s?", name, near)
	}
	return 0, fmt.Errorf("unknown computation class %q: use transform, swift_map, source, transform_source, passthrough, "+
		"swift_passthrough, source_passthrough, or companion_ before one of the first four", name)
}

// String returns the short name.
func (c Class) String() string {
	if c == 0 || c >= classCount {
		return "unknown"
	}
	return classInfos[c].name
}

// LongName returns the name of the class in the system we follow.
func (c Class) LongName() string {
	if c == 0 || c >= classCount {
		return "unknown"
	}
	return classPrefix + classInfos[c].long
}

// Classes returns all classes, in the order of the constants.
func Classes() []Class {
	all := make([]Class, 0, classCount-1)
	for c := ClassTransform; c < classCount; c++ {
		all = append(all, c)
	}
	return all
}

// IsSource reports whether the class reads source streams.
func (c Class) IsSource() bool { return classInfos[c%classCount].source }

// IsCompanion reports whether the class runs in a companion.
func (c Class) IsCompanion() bool { return classInfos[c%classCount].companion }

// RunsFunction reports whether the class runs a processing function of this
// process.
func (c Class) RunsFunction() bool { return classInfos[c%classCount].function }

// IsTransform reports whether the class keeps its output durably between
// computations and may have visits that emit: transform and its companion form.
func (c Class) IsTransform() bool { return c == ClassTransform || c == ClassCompanionTransform }

// IsSwiftMap reports whether the class is swift_map or its companion form.
func (c Class) IsSwiftMap() bool { return c == ClassSwiftMap || c == ClassCompanionSwiftMap }

// IsPassthrough reports whether the class passes on what it reads.
func (c Class) IsPassthrough() bool {
	return c == ClassPassthrough || c == ClassSwiftPassthrough || c == ClassSourcePassthrough
}

// HasKeyedState reports whether functions of the class have state by key, and
// thus may have visit and timer streams.
func (c Class) HasKeyedState() bool { return c.IsTransform() || c.IsSwiftMap() }
