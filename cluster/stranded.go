package cluster

import (
	"context"
	"time"

	"github.com/rondo-flow/rondo/store"
)

// lookTime is how long a question about the cluster waits for the store.
const lookTime = 2 * time.Second

// Stranded tells of which computations some of these partitions have no worker that
// can run them, and why. Nothing is said while the store does not answer.
func (m *Member) Stranded(parts []store.Partition) map[string]string {
	m.mu.Lock()
	groupOf, v := m.groupOf, m.view
	m.mu.Unlock()
	if groupOf == nil || v == nil {
		return nil
	}
	if v.Lease.Holder != m.o.Worker { // who is not controller hears of no others
		ctx, cancel := context.WithTimeout(context.Background(), lookTime)
		defer cancel()
		var err error
		if v, err = m.store.View(ctx); err != nil {
			return nil
		}
	}
	return StrandedIn(v, parts, m.o.Lease, groupOf)
}

// StrandedIn is Stranded by what workers have told, for those who only look. dead is how
// long they may be silent.
func StrandedIn(v *store.View, parts []store.Partition, dead time.Duration, groupOf func(computation string) string) map[string]string {
	return Stranded(State{Workers: v.Workers, Partitions: parts, Dead: dead, Group: groupOf, Lacks: told(v.Workers)})
}
