package crash

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore"
)

// TestABackupOfARunningClusterGoesOnElsewhere: pg_dump copies the store while three
// workers run; another server takes the copy, and other workers go on from there. What
// the former did since has never been.
func TestABackupOfARunningClusterGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"pg_dump", "psql"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("backups are made and restored by %s, which is not here", program)
		}
	}
	server, elsewhere := newServer(t), newServer(t)
	f := newFleet(t, server, buildCommand(t), "kept", slowJob)
	for range 3 {
		f.hire()
	}
	f.await("the work to be under way", func(*store.View) bool { return f.handled() > clusterRows/4 })
	dump := exec.CommandContext(t.Context(), "pg_dump", "--schema", "kept", server.URL(""))
	copied, err := dump.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	if f.over() {
		t.Fatal("the pipeline is completed before the backup")
	}
	for _, c := range f.crews {
		_ = c.cmd.Process.Kill()
		<-c.end
	}
	restore := exec.CommandContext(t.Context(), "psql", "--quiet", "--no-psqlrc", "-v", "ON_ERROR_STOP=1", elsewhere.URL(""))
	restore.Stdin = bytes.NewReader(copied)
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	f.crews, f.url = nil, elsewhere.URL("kept")
	if err := f.look.Close(); err != nil {
		t.Fatal(err)
	}
	if f.look, err = pgstore.Open(t.Context(), f.url, pgstore.Options{Worker: "test"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f.hire()
	}
	f.finish()
	f.check()
}
