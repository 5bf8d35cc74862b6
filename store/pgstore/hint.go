package pgstore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// hintEvery is how long a worker waits between two messages to the others. They are
// sent beside the commits: within them they would let one commit at a time through.
const hintEvery = 100 * time.Millisecond

// hintBytes is how long a message may be; what is longer becomes "anything".
const hintBytes = 7900

// hints are what is to be told: to others, or to this worker.
type hints struct {
	lock    sync.Mutex
	pending store.Hint
	some    chan struct{} // has one if something is pending
}

func newHints() *hints { return &hints{some: make(chan struct{}, 1)} }

func (h *hints) add(what *store.Hint) {
	if what.Empty() {
		return
	}
	h.lock.Lock()
	h.pending.Add(what)
	h.lock.Unlock()
	select {
	case h.some <- struct{}{}:
	default: // it has been said that there is something
	}
}

// next waits for something to be told.
func (h *hints) next(ctx context.Context) (*store.Hint, error) {
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", store.ErrUnavailable, ctx.Err())
	case <-h.some:
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	told := h.pending
	h.pending = store.Hint{}
	return &told, nil
}

// telegraph lets the workers of a schema tell each other what they have committed.
type telegraph struct {
	channel string
	self    string // what this one's own messages begin with
	in, out *hints
}

func newTelegraph(schema string) *telegraph {
	channel := "rondo " + schema
	if len(channel) > 63 { // those of two schemas may then be one, which costs a look
		channel = channel[:6] + fmt.Sprintf("%x", sha256.Sum256([]byte(schema)))[:50]
	}
	return &telegraph{channel: channel, self: rand.Text(), in: newHints(), out: newHints()}
}

// NextHint implements store.Hinter. Only a worker of a cluster is told something.
func (s *Store) NextHint(ctx context.Context) (*store.Hint, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	s.leave() // Close does not wait for it
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.beside.ctx, cancel)()
	return s.telegraph.in.next(ctx)
}

// keepTelling sends what is to be told until the store is closed. What cannot be
// sent is told once it can.
func (s *Store) keepTelling(ctx context.Context) {
	t := s.telegraph
	for {
		hint, err := t.out.next(ctx)
		if err != nil {
			return
		}
		limited, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
		_, err = s.pool.Exec(limited, `SELECT pg_notify($1, $2)`, t.channel, t.message(hint))
		cancel()
		if err != nil && ctx.Err() == nil {
			s.opts.Logger.Debug("other workers are told later", "error", classify(err))
			t.out.add(hint)
		}
		select {
		case <-ctx.Done():
		case <-time.After(hintEvery):
		}
	}
}

// tell has others told what an epoch did.
func (s *Store) tell(c *store.Commit) {
	if s.opts.Worker != "" {
		s.telegraph.out.add(store.HintOf(c))
	}
}

// message is who sends it, the targets, and the reporters: "SENDER 3,17 4".
func (t *telegraph) message(h *store.Hint) string {
	text := t.self + " " + list(h.Targets) + " " + list(h.Reporters)
	if h.All || len(text) > hintBytes {
		return t.self + " *"
	}
	return text
}

// received takes a message in. One that cannot be read may mean anything.
func (t *telegraph) received(message string) {
	words := strings.Split(message, " ")
	if words[0] == t.self {
		return
	}
	hint := &store.Hint{All: true}
	if len(words) == 3 {
		targets, err1 := ids(words[1])
		reporters, err2 := ids(words[2])
		if err1 == nil && err2 == nil {
			hint = &store.Hint{Targets: targets, Reporters: reporters}
		}
	}
	t.in.add(hint)
}

func list(ids []store.PartitionID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.FormatUint(uint64(id), 10)
	}
	return strings.Join(words, ",")
}

func ids(list string) (out []store.PartitionID, err error) {
	for word := range strings.SplitSeq(list, ",") {
		if word == "" {
			continue
		}
		id, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, store.PartitionID(id))
	}
	return out, nil
}
