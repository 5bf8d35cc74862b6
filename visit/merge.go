package visit

import (
	"cmp"
	"slices"
)

// Merge describes a stream over its partitions, in any order: counts are added,
// fractions weighed by the length of the ranges, and of what cannot be added the
// worse is taken. Flags hold if they hold for every part, but for FinalBegun,
// Running, CatchUp and Enabled, which hold if they hold for one; a part that is
// Empty is as good as Suspended. A rate is unknown if that of one part is; a
// time is the smallest of those that are known.
func Merge(parts ...Status) Status {
	if len(parts) == 0 {
		return Status{}
	}
	out := parts[0]
	for _, p := range parts[1:] {
		out = out.merge(p)
	}
	out.Buckets, out.Problems = nil, nil
	var all, progress, scanned float64
	for _, p := range parts {
		out.Buckets, out.Problems = append(out.Buckets, p.Buckets...), append(out.Problems, p.Problems...)
		span := float64(p.Range.Span())
		all, progress, scanned = all+span, progress+span*p.Progress, scanned+span*p.Scanned
	}
	if all > 0 {
		out.Progress, out.Scanned = progress/all, scanned/all
	}
	slices.SortFunc(out.Buckets, func(a, b BucketStatus) int { return a.Range.Lower.Compare(b.Range.Lower) })
	slices.SortFunc(out.Problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	out.Problems = slices.Compact(out.Problems) // equal ones are one
	return out
}

// Completed describes a stream in a partition that is Completed: nothing waits,
// every rate is known to be zero, and its watermark is the time of the report.
func Completed(stream string, r Range, now Instant) Status {
	zero := Rate{Known: true}
	return Status{
		Stream: stream, Range: r, Final: true, FinalBegun: true, Empty: true,
		Progress: 1, Scanned: 1, LeftKnown: true,
		Watermark: Time{now.Wall, true},
		Offered:   zero, OfferedBytes: zero, Processed: zero,
	}
}

// merge unites the statuses of two parts of a range, except for the fractions and
// for lists that grow with the parts.
func (s Status) merge(o Status) Status {
	out := s.mergeNumbers(o)
	out.Stream, out.Range = s.Stream, hull(s.Range, o.Range)
	out.Final, out.FinalBegun = s.Final && o.Final, s.FinalBegun || o.FinalBegun
	out.Empty, out.Suspended = s.Empty && o.Empty, s.idle() && o.idle() && (s.Suspended || o.Suspended)
	out.Enabled, out.CatchUp, out.Running = s.Enabled || o.Enabled, s.CatchUp || o.CatchUp, s.Running || o.Running
	if out.Run = s.Run; s.Empty || !o.Empty && o.Run.ID < s.Run.ID {
		out.Run = o.Run
	}
	out.System, out.Event = s.System.earlier(o.System), s.Event.earlier(o.Event)
	out.Watermark = s.Watermark.earlier(o.Watermark)
	out.NotFound = slices.DeleteFunc(slices.Clone(s.NotFound), func(name string) bool { return !slices.Contains(o.NotFound, name) })
	return out
}

// idle says that the part hands nothing out, for now or for ever.
func (s Status) idle() bool { return s.Suspended || s.Empty }

// mergeNumbers adds what is counted and takes the worse of what cannot be added.
func (s Status) mergeNumbers(o Status) Status {
	return Status{
		Pass:         least(s.Pass, o.Pass),
		PassStart:    earlier(s.PassStart, o.PassStart),
		Lag:          max(s.Lag, o.Lag),
		Left:         max(s.Left, o.Left),
		LeftKnown:    s.LeftKnown && o.LeftKnown,
		MaxAge:       max(s.MaxAge, o.MaxAge),
		Ready:        s.Ready + o.Ready,
		ReadyBytes:   s.ReadyBytes + o.ReadyBytes,
		Offered:      s.Offered.plus(o.Offered),
		OfferedBytes: s.OfferedBytes.plus(o.OfferedBytes),
		Processed:    s.Processed.plus(o.Processed),
		Pace:         s.Pace.slower(o.Pace),
		Counters:     s.Counters.plus(o.Counters),
		BytesRead:    s.BytesRead + o.BytesRead,
	}
}

// hull returns the smallest range that holds both.
func hull(a, b Range) Range {
	if b.Lower.Compare(a.Lower) < 0 {
		a.Lower = b.Lower
	}
	if b.Upper.Compare(a.Upper) > 0 {
		a.Upper = b.Upper
	}
	return a
}

// least returns the smaller pass number; 0 stands for none.
func least(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// earlier returns the smaller of two times; a missing one is passed over.
func (t Time) earlier(o Time) Time {
	if !t.Known || o.Known && o.Value < t.Value {
		return o
	}
	return t
}

// plus adds rates; the sum is unknown if one of them is.
func (r Rate) plus(o Rate) Rate {
	if !r.Known || !o.Known {
		return Rate{}
	}
	return Rate{r.Value + o.Value, true}
}

// slower returns the smaller rate; an unknown one is passed over.
func (r Rate) slower(o Rate) Rate {
	if !r.Known || o.Known && o.Value < r.Value {
		return o
	}
	return r
}
