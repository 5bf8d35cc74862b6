package pebblestore

import (
	"log/slog"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options say how a store is opened. Zero values are the defaults.
type Options struct {
	// CacheBytes is the size of the cache of decompressed blocks, 256 MiB.
	CacheBytes int64
	// FS is where the folder lies, the disk. Tests use one in memory.
	FS vfs.FS
	// Logger gets what nobody else is told: background errors, and why the
	// store stopped. The default discards.
	Logger *slog.Logger
	// MemTableBytes is the size of the table in memory that collects writes
	// before they go to a file, 32 MiB; up to four of them may exist. Larger
	// ones write less to disk, and cost more time at every access.
	MemTableBytes uint64
	// NoSync lets commits return before they are on disk. What was committed
	// last may then be lost when the machine fails, so it is for measuring what
	// syncs cost.
	NoSync bool
	// Started is when this process started, for others that find the folder in
	// use. They are not told a time by default.
	Started time.Time
}

func (o Options) withDefaults() Options {
	if o.CacheBytes == 0 {
		o.CacheBytes = 256 << 20
	}
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = 32 << 20
	}
	return o
}

// folder returns dir in the form that the system's file lock is known by, so
// that two spellings of one folder are not opened twice in one process.
func (o Options) folder(dir string) (string, error) {
	if o.FS != vfs.Default {
		return dir, nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return abs, nil
}

// pebble returns the options of the database on a file system that stops at its
// first failure.
func (o Options) pebble(fs *freezer, lock *pebble.Lock) *pebble.Options {
	p := &pebble.Options{
		CacheSize: o.CacheBytes,
		// A second compaction runs only when the first one falls behind: the
		// processors are for the pipeline.
		CompactionConcurrencyRange: func() (lower, upper int) { return 1, 2 },
		EventListener:              listener(fs, o.Logger),
		// Raised deliberately, with formatVersion.
		FormatMajorVersion: pebble.FormatTableFormatV6,
		FS:                 fs,
		// Writers wait only for a disk that is far behind.
		L0CompactionThreshold:       4,
		L0StopWritesThreshold:       64,
		Lock:                        lock,
		Logger:                      logger{fs, o.Logger},
		MemTableSize:                o.MemTableBytes,
		MemTableStopWritesThreshold: 4,
	}
	for i := range p.Levels {
		// Lists read neighbours, and the index stays small.
		p.Levels[i].BlockSize = 16 << 10
	}
	return p
}
