package metamorphic

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/store/pgstore"
	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
	"github.com/rondo-flow/rondo/store/storetest"
)

var histories = flag.Int("histories", 5, "how many histories to run; with more, set -rapid.checks too")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pebble is a store in memory, whose crash loses what was not synced.
func pebble(fs *vfs.MemFS, o pebblestore.Options) storetest.Harness {
	o.FS = fs
	return storetest.Harness{
		Open: func(t storetest.TB) store.Store {
			s, err := pebblestore.Open("data", o)
			return opened(t, s, err)
		},
		Crash: func(_ storetest.TB, seed uint64) storetest.Harness {
			return pebble(fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(seed, 0))}), o)
		},
	}
}

func opened(t storetest.TB, s store.Store, err error) store.Store {
	t.Helper()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

// postgres makes stores in schemas of a server.
func postgres(server *pgtest.Server, name string, o pgstore.Options) func(t storetest.TB) storetest.Harness {
	made := 0
	return func(t storetest.TB) storetest.Harness {
		made++
		url := server.URL(fmt.Sprintf("%s_%d", name, made))
		if _, err := pgstore.MigrateUp(context.Background(), url, o); err != nil {
			t.Fatalf("migrate: %v", err)
		}
		return storetest.Harness{Open: func(t storetest.TB) store.Store {
			s, err := pgstore.Open(context.Background(), url, o)
			return opened(t, s, err)
		}}
	}
}

func TestOneHistoryHasEqualAnswersOnAllStoresAndOptions(t *testing.T) {
	server, err := pgtest.Start("-c", "autovacuum_naptime=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	storetest.Compare(t, *histories, map[string]func(t storetest.TB) storetest.Harness{
		"pebble": func(storetest.TB) storetest.Harness { return pebble(vfs.NewCrashableMem(), pebblestore.Options{}) },
		"pebble with small tables": func(storetest.TB) storetest.Harness {
			return pebble(vfs.NewCrashableMem(), pebblestore.Options{MemTableBytes: 64 << 10, CacheBytes: 1 << 20})
		},
		"pebble on disk": func(tb storetest.TB) storetest.Harness {
			dir, err := os.MkdirTemp(t.TempDir(), "")
			if err != nil {
				tb.Fatalf("%v", err)
			}
			return storetest.Harness{Open: func(tb storetest.TB) store.Store {
				s, err := pebblestore.Open(dir, pebblestore.Options{NoSync: true})
				return opened(tb, s, err)
			}}
		},
		"PostgreSQL":                 postgres(server, "many", pgstore.Options{}),
		"PostgreSQL, one connection": postgres(server, "one", pgstore.Options{Connections: 1}),
	})
}
