package visit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// formatVersion is the version of all stored rows. A row begins with it.
const formatVersion = 1

// Bits of the flag bytes.
const (
	flagFinal = 1 << iota
	flagWatermark
	flagPrevious
	flagRun
	flagRunning
	flagFound
	flagRested

	recordFlags = 1<<iota - 1
)

// errTruncated and the like say why a stored row cannot be decoded.
var (
	errTruncated = errors.New("the row ends too early")
	errTrailing  = errors.New("the row goes on behind its end")
	errFlags     = errors.New("the row has flags that are not known")
	errPeriod    = errors.New("the period of its run-now command is too long")
	errOrder     = errors.New("the intervals are empty, overlap or are out of order")
)

// encoder appends the parts of a row.
type encoder []byte

func (e *encoder) byte(b byte)     { *e = append(*e, b) }
func (e *encoder) uint(v uint64)   { *e = binary.AppendUvarint(*e, v) }
func (e *encoder) fixed(v uint64)  { *e = binary.BigEndian.AppendUint64(*e, v) }
func (e *encoder) string(s string) { e.uint(uint64(len(s))); *e = append(*e, s...) }

func (e *encoder) bound(b Bound) {
	if b.End {
		e.byte(1)
		return
	}
	e.byte(0)
	e.fixed(b.Key.Hash)
	e.string(b.Key.Bytes)
}

func (e *encoder) strings(list []string) {
	e.uint(uint64(len(list)))
	for _, s := range list {
		e.string(s)
	}
}

func (e *encoder) counters(c Counters) {
	for _, v := range []uint64{c.Seen, c.Delivered, c.Failed, c.Gone} {
		e.uint(v)
	}
}

// decoder reads the parts of a row. After the first failure it returns zeros
// and keeps the error.
type decoder struct {
	rest []byte
	err  error
}

// newDecoder checks the version of a row.
func newDecoder(row []byte) *decoder {
	d := &decoder{rest: row}
	if v := d.byte(); d.err == nil && v != formatVersion {
		d.err = fmt.Errorf("format version is %d, this program knows %d", v, formatVersion)
	}
	return d
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.rest = nil
}

func (d *decoder) take(n uint64) []byte {
	if d.err != nil || n > uint64(len(d.rest)) {
		d.fail(errTruncated)
		return nil
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) flags(known byte) byte {
	f := d.byte()
	if f&^known != 0 {
		d.fail(errFlags)
	}
	return f
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if d.err != nil || n <= 0 {
		d.fail(errTruncated)
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) fixed() uint64 {
	if b := d.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (d *decoder) bound() Bound {
	if d.flags(1) == 1 {
		return Bound{End: true}
	}
	hash := d.fixed()
	return Bound{Key: Key{Hash: hash, Bytes: string(d.take(d.uint()))}}
}

// period reads a duration that a run-now command may have.
func (d *decoder) period() time.Duration {
	p := d.uint()
	if p > uint64(longest) {
		d.fail(errPeriod)
		return 0
	}
	return time.Duration(p)
}

func (d *decoder) strings() (list []string) {
	for n := d.uint(); n > 0 && d.err == nil; n-- {
		list = append(list, string(d.take(d.uint())))
	}
	return list
}

func (d *decoder) counters() Counters {
	return Counters{Seen: d.uint(), Delivered: d.uint(), Failed: d.uint(), Gone: d.uint()}
}

// end returns the first failure; what is left over is one too.
func (d *decoder) end() error {
	if d.err == nil && len(d.rest) > 0 {
		return errTrailing
	}
	return d.err
}

// flags says which parts a record's row has.
func (r record) flags() (flags byte) {
	for _, f := range []struct {
		flag byte
		set  bool
	}{
		{flagFinal, r.final},
		{flagWatermark, r.watermark != noWatermark},
		{flagPrevious, r.previous != 0},
		{flagRun, r.run.ID != 0},
		{flagRunning, r.running},
		{flagFound, len(r.found) > 0},
		{flagRested, r.rested != 0},
	} {
		if f.set {
			flags |= f.flag
		}
	}
	return flags
}

func encodeRecord(r record) []byte {
	var e encoder
	e.byte(formatVersion)
	flags := r.flags()
	e.byte(flags)
	e.uint(r.pass)
	e.fixed(uint64(r.start))
	e.fixed(uint64(r.anchor))
	if flags&flagWatermark != 0 {
		e.fixed(uint64(r.watermark))
	}
	e.counters(r.counters)
	if flags&flagPrevious != 0 {
		e.fixed(uint64(r.previous))
	}
	if flags&flagRun != 0 {
		e.uint(r.run.ID)
		e.uint(uint64(r.run.Period))
	}
	if flags&flagFound != 0 {
		e.strings(r.found)
	}
	if flags&flagRested != 0 {
		e.fixed(uint64(r.rested))
	}
	return e
}

func decodeRecord(row []byte) (record, error) {
	d := newDecoder(row)
	flags := d.flags(recordFlags)
	r := record{final: flags&flagFinal != 0, running: flags&flagRunning != 0, watermark: noWatermark}
	r.pass = d.uint()
	r.start = int64(d.fixed())
	r.anchor = int64(d.fixed())
	if flags&flagWatermark != 0 {
		r.watermark = int64(d.fixed())
	}
	r.counters = d.counters()
	if flags&flagPrevious != 0 {
		r.previous = int64(d.fixed())
	}
	if flags&flagRun != 0 {
		r.run = Run{ID: d.uint(), Period: d.period()}
	}
	if flags&flagFound != 0 {
		r.found = d.strings()
	}
	if flags&flagRested != 0 {
		r.rested = int64(d.fixed())
	}
	return r, d.end()
}

// encodeIntervals returns the row of a bucket, nil if nothing is committed.
func encodeIntervals(list []Range) []byte {
	if len(list) == 0 {
		return nil
	}
	var e encoder
	e.byte(formatVersion)
	e.uint(uint64(len(list)))
	for _, r := range list {
		e.bound(r.Lower)
		e.bound(r.Upper)
	}
	return e
}

func decodeIntervals(row []byte) ([]Range, error) {
	d := newDecoder(row)
	var list []Range
	last := Bound{}
	for n := d.uint(); n > 0 && d.err == nil; n-- {
		r := Range{Lower: d.bound(), Upper: d.bound()}
		if r.Empty() || r.Lower.Compare(last) < 0 {
			d.fail(errOrder)
		}
		last = r.Upper
		list = append(list, r)
	}
	return list, d.end()
}

func encodeSummaries(list []Summary) []byte {
	var e encoder
	e.byte(formatVersion)
	e.uint(uint64(len(list)))
	for _, s := range list {
		var flags byte
		if s.Final {
			flags = flagFinal
		}
		e.byte(flags)
		e.uint(s.Pass)
		e.fixed(uint64(s.Start))
		e.fixed(uint64(s.End))
		e.counters(s.Counters)
	}
	return e
}

func decodeSummaries(row []byte) ([]Summary, error) {
	d := newDecoder(row)
	var list []Summary
	for n := d.uint(); n > 0 && d.err == nil; n-- {
		s := Summary{Final: d.flags(flagFinal) == flagFinal, Pass: d.uint()}
		s.Start, s.End = int64(d.fixed()), int64(d.fixed())
		s.Counters = d.counters()
		list = append(list, s)
	}
	return list, d.end()
}
