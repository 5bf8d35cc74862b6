package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/rondo-flow/rondo/console"
	"github.com/rondo-flow/rondo/engine"
)

// lastFile is where a run leaves in its data folder what was wrong when it ended, for
// who looks at the pipeline later. A run that is killed leaves nothing.
func lastFile(dataDir string) string { return filepath.Join(dataDir, "problems.json") }

// forgetLast removes what a former run left.
func forgetLast(dataDir string) error {
	if err := os.Remove(lastFile(dataDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove what the last run left: %w", err)
	}
	return nil
}

// keepLast leaves what is wrong with a pipeline that has ended, with the error that
// ended it, nil for none. It is of no use but to be shown, so it fails nothing.
func keepLast(dataDir string, p *engine.Pipeline, err error, log *slog.Logger) {
	wrong := console.StatusOf(p.Status(), p.Problems()).Problems
	if err != nil {
		wrong = append(wrong, console.Problem{Path: "/run", Message: err.Error()})
	}
	if len(wrong) == 0 {
		return
	}
	text, err := json.Marshal(wrong)
	if err == nil {
		err = os.WriteFile(lastFile(dataDir), append(text, '\n'), 0o644)
	}
	if err != nil {
		log.Warn("what was wrong is not kept for rondo status", "error", err)
	}
}

// lastProblems returns what was kept, nothing if that cannot be read.
func lastProblems(dataDir string) (wrong []console.Problem) {
	text, err := os.ReadFile(lastFile(dataDir))
	if err == nil {
		err = json.Unmarshal(text, &wrong)
	}
	if err != nil {
		return []console.Problem{}
	}
	return wrong
}
