package pebblestore_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/store/storetest"
)

// memory keeps a store in a file system that knows what was synced.
func memory(fs *vfs.MemFS) storetest.Harness {
	return storetest.Harness{
		Open: func(t storetest.TB) store.Store {
			t.Helper()
			s, err := pebblestore.Open("data", pebblestore.Options{FS: fs, MemTableBytes: 256 << 10})
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			return s
		},
		Crash: func(_ storetest.TB, seed uint64) storetest.Harness {
			return memory(fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(seed, 0))}))
		},
	}
}

func TestStoreInMemoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(storetest.TB) storetest.Harness { return memory(vfs.NewCrashableMem()) })
}
