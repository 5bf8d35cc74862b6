package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
)

// rig calls the function as the engine does, for one user.
type rig struct {
	t   *testing.T
	rt  *flowtest.Runtime
	f   *sessions
	key flow.Key
}

func newRig(t *testing.T) *rig {
	out := flowtest.Schema(t, "user string required", "start string required", "end string required", "clicks int64 required")
	keys := flowtest.Schema(t, "hash uint64 required", "user string required")
	return &rig{
		t: t, rt: flowtest.NewRuntime(flow.Streams{"sessions": out}),
		f:   &sessions{30 * time.Minute, flow.NewState[session]("/session", nil)},
		key: flowtest.Key(t, keys, 7, "ann"),
	}
}

// at is a minute of 2024-01-01.
func at(minute int) flow.Time {
	return flow.Time(time.Date(2024, 1, 1, 0, minute, 0, 0, time.UTC).UnixNano())
}

func (r *rig) click(minute int) string {
	msg := flow.Message{Meta: flow.Meta{EventTimestamp: at(minute)}, Key: r.key}
	return r.epoch(r.f.OnMessage(r.t.Context(), r.rt, msg, r.rt))
}

func (r *rig) visit(watermark int, final bool) string {
	r.rt.SetWatermark("clicks", at(watermark))
	return r.epoch(r.f.OnVisit(r.t.Context(), r.rt, flow.Visit{Key: r.key, Final: final}, r.rt))
}

// epoch stores the state and returns what was emitted.
func (r *rig) epoch(err error) string {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	text := ""
	for _, m := range r.rt.Emitted() {
		text += fmt.Sprint(m.Payload.String("start")[11:16], "-", m.Payload.String("end")[11:16], " ", m.Payload.Int64("clicks"))
	}
	if err := r.rt.EndEpoch(); err != nil {
		r.t.Fatal(err)
	}
	return text
}

func (r *rig) want(got, want string) {
	r.t.Helper()
	if got != want {
		r.t.Errorf("emitted %q, want %q", got, want)
	}
}

func TestAVisitEndsASessionAfterMoreThanThePause(t *testing.T) {
	r := newRig(t)
	r.want(r.click(0), "")
	r.want(r.click(20), "")
	r.want(r.visit(50, false), "")
	r.want(r.visit(51, false), "00:00-00:20 2")
	if kept := r.rt.Stored("/session", r.key); kept != nil {
		t.Errorf("after the end %x is kept", kept)
	}
}

func TestAClickAfterThePauseBeginsANewSession(t *testing.T) {
	r := newRig(t)
	r.want(r.click(0), "")
	r.want(r.click(30), "")
	r.want(r.click(61), "00:00-00:30 2")
	r.want(r.visit(92, false), "01:01-01:01 1")
}

func TestTheLastPassEndsEverySession(t *testing.T) {
	r := newRig(t)
	r.want(r.click(0), "")
	r.want(r.visit(0, true), "00:00-00:00 1")
}
