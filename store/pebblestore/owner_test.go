package pebblestore_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pebblestore"
)

// holderFolder names, in the environment, a folder that the test program is to
// open and hold instead of running tests.
const holderFolder = "RONDO_TEST_HOLD_FOLDER"

// holdFolder opens dir, says so, and keeps it until its input ends.
func holdFolder(dir string) {
	_, err := pebblestore.Open(dir, pebblestore.Options{Started: time.Date(2001, 3, 31, 12, 0, 0, 0, time.UTC)})
	fmt.Println("opened", err)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// holder starts another process that holds dir.
func holder(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderFolder+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "opened <nil>\n" {
		t.Fatalf("the holder says %q, %v", line, err)
	}
	return cmd
}

func TestASecondProcessIsToldWhoHoldsTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	cmd := holder(t, dir)
	_, err := pebblestore.Open(dir, pebblestore.Options{})
	host, _ := os.Hostname()
	for _, want := range []string{dir, fmt.Sprintf("process %d ", cmd.Process.Pid), host, "2001-03-31T12:00:00Z"} {
		if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), want) {
			t.Fatalf("open: %v, want ErrLocked with %q", err, want)
		}
	}
}

// D-21: holding the lock proves the former process dead, so nobody waits.
func TestAKilledProcessHoldsNothing(t *testing.T) {
	dir := t.TempDir()
	cmd := holder(t, dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	s := open(t, dir, pebblestore.Options{})
	_, err := pebblestore.Open(dir, pebblestore.Options{})
	if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on", os.Getpid())) {
		t.Fatalf("open while this process holds it: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir, pebblestore.Options{})
}

func TestOneFolderIsNotOpenedTwiceUnderTwoNames(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	open(t, dir, pebblestore.Options{})
	if _, err := pebblestore.Open(link, pebblestore.Options{}); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("open by another name: %v", err)
	}
}

func TestAStaleOwnerBlocksNobody(t *testing.T) {
	fs := vfs.NewMem()
	write(t, fs, "data/rondo.owner", `{"pid":1,"host":"elsewhere"}`)
	s := open(t, "data", pebblestore.Options{FS: fs})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat("data/rondo.owner"); !os.IsNotExist(err) {
		t.Fatalf("a closed folder still has an owner: %v", err)
	}
}

func TestFormats(t *testing.T) {
	cases := []struct {
		name, format string
		class        error
		text         string
	}{
		{"the first format", "rondo store 1\n", nil, ""},
		{"the present format", "rondo store 2\n", nil, ""},
		{"a newer format", "rondo store 3\n", store.ErrNewerFormat, "format 3, this Rondo reads up to 2"},
		{"no format at all", "", store.ErrCorrupt, `says ""`},
		{"something else", "flights\n", store.ErrCorrupt, "flights"},
		{"a format that never was", "rondo store 0\n", store.ErrCorrupt, "rondo store 0"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			fs := vfs.NewMem()
			write(t, fs, "data/rondo.format", tc.format)
			write(t, fs, "data/LOCK", "")
			before := fs.String()
			s, err := pebblestore.Open("data", pebblestore.Options{FS: fs})
			if tc.class == nil && err == nil {
				_ = s.Close()
				return
			}
			if !errors.Is(err, tc.class) || !strings.Contains(err.Error(), tc.text) {
				t.Fatalf("open: %v, want %v with %q", err, tc.class, tc.text)
			}
			if after := fs.String(); after != before {
				t.Fatalf("a refused folder was changed from\n%s\nto\n%s", before, after)
			}
		})
	}
}

func write(t *testing.T, fs vfs.FS, name, text string) {
	t.Helper()
	if err := fs.MkdirAll("data", 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
