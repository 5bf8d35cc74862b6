package storetest

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/rondo-flow/rondo/store"
)

// Model is a store in memory, as simple as it can be. Use NewModel.
type Model struct {
	data   *modelData
	mu     sync.Mutex
	closed bool
}

// modelData is what survives Close. mu makes every call a transaction, which
// also makes RaiseGeneration wait for the commit in flight.
type modelData struct {
	mu             sync.Mutex
	pipeline       *store.Pipeline
	partitions     map[store.PartitionID]*modelPartition
	lastID         store.PartitionID
	lastGeneration store.Generation
	states         map[stateKey][]byte
	timers         map[timerKey]int64 // event timestamps
	inbox          map[store.InboxKey]store.InboxRow
	queues         map[string]*modelQueue
	lastQueue      uint64
	tables         map[store.TableID]*modelTable
	lastTable      store.TableID
}

type stateKey struct{ computation, key, name string }

type modelPartition struct {
	row store.Partition
	// lastNumber is the number of the last row produced in this generation.
	lastNumber       uint64
	visitors         map[visitorKey][]byte
	report           *store.Report
	offset, position []byte
	totals           *store.Totals
}

type visitorKey struct {
	stream string
	slot   int
}

var _ store.Store = (*Model)(nil)

// NewModel returns an empty store.
func NewModel() *Model {
	return &Model{data: &modelData{
		partitions: map[store.PartitionID]*modelPartition{},
		states:     map[stateKey][]byte{},
		timers:     map[timerKey]int64{},
		inbox:      map[store.InboxKey]store.InboxRow{},
		queues:     map[string]*modelQueue{},
		tables:     map[store.TableID]*modelTable{},
	}}
}

// Reopen closes m and returns a store on the same data.
func (m *Model) Reopen() *Model {
	_ = m.Close()
	return &Model{data: m.data}
}

// Crash returns a store with what is durable now. m goes on by itself, as a
// process that does not know yet that it is dead.
func (m *Model) Crash() *Model {
	d := m.data
	d.mu.Lock()
	defer d.mu.Unlock()
	c := &modelData{
		partitions:     make(map[store.PartitionID]*modelPartition, len(d.partitions)),
		lastID:         d.lastID,
		lastGeneration: d.lastGeneration,
		states:         maps.Clone(d.states),
		timers:         maps.Clone(d.timers),
		inbox:          maps.Clone(d.inbox),
		queues:         make(map[string]*modelQueue, len(d.queues)),
		lastQueue:      d.lastQueue,
		tables:         make(map[store.TableID]*modelTable, len(d.tables)),
		lastTable:      d.lastTable,
	}
	if d.pipeline != nil {
		p := *d.pipeline
		c.pipeline = &p
	}
	for id, p := range d.partitions {
		q := *p
		q.visitors = maps.Clone(p.visitors)
		c.partitions[id] = &q
	}
	for name, q := range d.queues {
		c.queues[name] = q.clone()
	}
	for id, t := range d.tables {
		c.tables[id] = t.clone()
	}
	return &Model{data: c}
}

// Close makes later calls fail. The data stays for Reopen.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.data.mu.Lock() // waits for the call in progress
	defer m.data.mu.Unlock()
	m.closed = true
	return nil
}

// do runs one transaction.
func (m *Model) do(ctx context.Context, f func(d *modelData) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	m.mu.Lock()
	closed := m.closed
	m.data.mu.Lock()
	m.mu.Unlock()
	defer m.data.mu.Unlock()
	if closed {
		return fmt.Errorf("the store is closed: %w", store.ErrUnavailable)
	}
	return f(m.data)
}

func (d *modelData) partition(id store.PartitionID) (*modelPartition, error) {
	if p := d.partitions[id]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("there is no partition %d: %w", id, store.ErrFenced)
}
