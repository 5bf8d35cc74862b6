package storetest_test

import (
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/storetest"
)

// place keeps a model store.
func place(m *storetest.Model) storetest.Harness {
	return storetest.Harness{
		Open: func(storetest.TB) store.Store {
			m = m.Reopen()
			return m
		},
		Crash: func(storetest.TB, uint64) storetest.Harness { return place(m.Crash()) },
	}
}

func TestModelKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(storetest.TB) storetest.Harness { return place(storetest.NewModel()) })
}

func TestFaultsWithoutAFaultKeepTheContract(t *testing.T) {
	storetest.Run(t, func(storetest.TB) storetest.Harness {
		h := place(storetest.NewModel())
		return storetest.Harness{Open: func(t storetest.TB) store.Store { return storetest.NewFaults(h.Open(t), nil) }}
	})
}
