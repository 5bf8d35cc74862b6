package pebblestore_test

import (
	"bytes"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
	"github.com/rondo-flow/rondo/store/storetest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(holderFolder); dir != "" {
		holdFolder(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// quiet is a log that fails the test if anything is said: nothing goes wrong in
// the background, and no row is deleted in a way that Pebble complains of.
func quiet(t storetest.TB) *slog.Logger {
	var said safeBuffer
	t.Cleanup(func() {
		t.Helper()
		if text := said.String(); text != "" {
			t.Fatalf("the store logged: %s", text)
		}
	})
	return logTo(&said)
}

func logTo(b *safeBuffer) *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

// safeBuffer is a buffer that goroutines may share.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func open(t storetest.TB, dir string, o pebblestore.Options) *pebblestore.Store {
	t.Helper()
	if o.Logger == nil {
		o.Logger = quiet(t)
	}
	s, err := pebblestore.Open(dir, o)
	if err != nil {
		t.Fatalf("open %s: %v", dir, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// smallTables makes rows move through files within a test.
const smallTables = 64 << 10

// memory keeps a store in a file system that knows what was synced.
func memory(fs *vfs.MemFS) storetest.Harness {
	return storetest.Harness{
		Open: func(t storetest.TB) store.Store {
			return open(t, "data", pebblestore.Options{FS: fs, MemTableBytes: smallTables})
		},
		Crash: func(_ storetest.TB, seed uint64) storetest.Harness {
			return memory(fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(seed, 0))}))
		},
	}
}

func TestStoreInMemoryKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(storetest.TB) storetest.Harness { return memory(vfs.NewCrashableMem()) })
}

func TestStoreOnDiskKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(tb storetest.TB) storetest.Harness {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			tb.Fatalf("%v", err)
		}
		return storetest.Harness{
			Open: func(t storetest.TB) store.Store {
				return open(t, dir, pebblestore.Options{NoSync: true})
			},
			Histories: 10,
		}
	})
}
