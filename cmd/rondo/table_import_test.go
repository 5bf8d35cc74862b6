package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// lateTables are tables whose rename happens, whatever its caller hears of it.
type lateTables struct {
	tables
	renamed func() error
}

func (l *lateTables) RenameTable(ctx context.Context, id store.TableID, name string) error {
	if err := l.tables.RenameTable(ctx, id, name); err != nil {
		return err
	}
	return l.renamed()
}

// TestAnImportNeverDropsWhatHasTakenTheTablesPlace: it is stopped in the moment in
// which the new rows took the place of the former ones, or never hears that they
// did.
func TestAnImportNeverDropsWhatHasTakenTheTablesPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(file, []byte("k,n\nb,2\nc,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, heard := range map[string]func(stop func()) error{
		"stopped":         func(stop func()) error { stop(); return nil },
		"unknown outcome": func(func()) error { return fmt.Errorf("it was lost: %w", store.ErrUnknownOutcome) },
		"both":            func(stop func()) error { stop(); return store.ErrUnknownOutcome },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := pebblestore.Open(t.TempDir(), pebblestore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ts := &openTables{&lateTables{s, func() error { return heard(stop) }}, s.Close}
			form, err := readTableSchema(`[{name=h;type=uint64;sort_order=ascending;expression="farm_hash(k)"};{name=k;type=utf8;sort_order=ascending};{name=n;type=int64}]`)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.CreateTable(ctx, "//t", form.String()); err != nil {
				t.Fatal(err)
			}
			old, err := ts.named(ctx, "//t")
			if err != nil {
				t.Fatal(err)
			}
			quiet, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			defer quiet.Close()
			c := tableImportCommand{In: []string{file}, Replace: true}
			_, _ = c.load(ctx, &streams{out: quiet, err: quiet}, ts, old)
			now, err := ts.named(t.Context(), "//t")
			if err != nil {
				t.Fatalf("the table is gone: %v", err)
			}
			var rows bytes.Buffer
			var list tableListCommand
			out := bufio.NewWriter(&rows)
			if _, err := list.printRows(t.Context(), out, &rowReader{table: now}); errors.Join(err, out.Flush()) != nil {
				t.Fatal(err)
			}
			for _, want := range []string{`"k":"b"`, `"k":"c"`} {
				if !strings.Contains(rows.String(), want) {
					t.Errorf("the table has %s, and not %s", rows.String(), want)
				}
			}
		})
	}
}
