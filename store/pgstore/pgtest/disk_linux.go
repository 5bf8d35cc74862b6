package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// apartVariable tells a child that it has mounts of its own.
const apartVariable = "RONDO_PGTEST_APART"

// SmallDisk gives a test a disk that is small, for StartOn. For that it runs the test
// once more, in a process with mounts of its own, which end with it; where it is
// called at first it returns "" once that process has passed, and the test is done.
// Only root may do so: others skip the test.
func SmallDisk(t *testing.T, size string) (dir string) {
	t.Helper()
	if os.Getenv(apartVariable) == "" {
		apart(t)
		return ""
	}
	dir = t.TempDir()
	err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""),
		os.Chmod(filepath.Dir(dir), 0o755), // the server's user has to come through
		syscall.Mount("none", dir, "tmpfs", 0, "mode=0755,size="+size))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func apart(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount the small disk that this test fills")
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	child.Env = append(os.Environ(), apartVariable+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := child.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this machine lets not even root make mounts of its own, such as the small disk that this test fills")
	}
	if err != nil {
		t.Fatalf("in the child: %v\n%s", err, out)
	}
}
