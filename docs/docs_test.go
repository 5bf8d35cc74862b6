//go:build unix

// Package docs proves the documents: their commands are run as they are
// written, and what they list is compared with what there is.
package docs

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-flow/rondo/store/pgstore/pgtest"
	"github.com/rondo-flow/rondo/yson"
)

// binDir holds the programs of the documents, and go.
var binDir string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if binDir, err = os.MkdirTemp("", "rondo-docs"); err == nil {
		defer os.RemoveAll(binDir)
		err = buildPrograms()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// standIn takes the place of go in the documents' commands, so that they run in
// a folder without the sources, with programs built once.
const standIn = `#!/bin/sh
bin=${0%/*}
case "$*" in
"run ./cmd/rondo "*) shift 2; exec "$bin/rondo" "$@";;
"run ./examples/sessions") exec "$bin/sessions";;
"build -o rondo ./cmd/rondo") cp "$bin/rondo" .;;
"build -o sessions ./examples/sessions") cp "$bin/sessions" .;;
*) echo "the documents' test cannot run: go $*" >&2; exit 1;;
esac
`

func buildPrograms() error {
	for _, name := range []string{"cmd/rondo", "examples/sessions"} {
		build := exec.Command("go", "build", "-o", filepath.Join(binDir, filepath.Base(name)), "../"+name)
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", name, err, out)
		}
	}
	return os.WriteFile(filepath.Join(binDir, "go"), []byte(standIn), 0o755)
}

// Each document is a session at a terminal, in a folder with the examples.
func TestTheDocumentsCommandsPrintWhatTheySay(t *testing.T) {
	for _, document := range []string{"../README.md", "quickstart.md", "control.md", "visits.md", "external.md", "tables.md"} {
		t.Run(filepath.Base(document), func(t *testing.T) {
			dir := t.TempDir()
			for _, example := range []string{"flights", "sessions", "audit"} {
				if err := os.CopyFS(filepath.Join(dir, "examples", example), os.DirFS(filepath.Join("..", "examples", example))); err != nil {
					t.Fatal(err)
				}
			}
			hurry(t, filepath.Join(dir, "examples", "sessions", "pipeline.yson"))
			s := &session{t: t, dir: dir}
			if document == "external.md" {
				s.database = database(t)
			}
			for _, b := range blocks(t, document) {
				b.save(t, dir)
				if words := strings.Fields(b.info); len(words) > 0 && words[0] == "console" {
					s.play(b, slices.Contains(words, "exact"))
				}
			}
		})
	}
}

// database is the URL of a server that ends with the test.
func database(t *testing.T) string {
	server, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL("")
}

// The README shows the example's function; what it shows must be what runs.
func TestTheREADMEShowsTheFunctionThatRuns(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "examples", "sessions", "sessions.go"))
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, b := range blocks(t, "../README.md") {
		if b.info != "go" {
			continue
		}
		shown++
		if !strings.Contains(string(source), b.text) {
			t.Errorf("the Go block at line %d of README.md is not part of examples/sessions/sessions.go:\n%s", b.line, b.text)
		}
	}
	if shown == 0 {
		t.Error("README.md shows no function")
	}
}

// The quickstart shows how a program serves its socket, as the example does.
func TestTheQuickstartShowsLinesOfTheProgramThatRuns(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "examples", "sessions", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	shown := slices.DeleteFunc(blocks(t, "quickstart.md"), func(b block) bool { return b.info != "go" })
	if len(shown) != 1 || !strings.Contains(string(source), shown[0].text) {
		t.Errorf("the one Go block of quickstart.md is not part of examples/sessions/main.go: %v", shown)
	}
}

// hurry lets the clicks of the example come faster than the documents say.
func hurry(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	faster := strings.Replace(string(text), `"rate" = 2000`, `"rate" = 6000`, 1)
	if err := os.WriteFile(path, []byte(faster), 0o600); err != nil {
		t.Fatal(err)
	}
}

// block is a fenced block of a document. The first word of its info is its
// language. In a console, lines that begin with "$ " are commands, the others
// are what they print on stdout, where "..." stands for any lines. Numbers, and
// the values in JSON, may be others in each run, unless the info says "exact".
type block struct {
	info, text string
	line       int
}

func blocks(t *testing.T, document string) (all []block) {
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for i, line := range strings.SplitAfter(string(data), "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			all, inside = append(all, block{info: strings.TrimSpace(info), line: i + 1}), true
		case fence:
			inside = false
		case inside:
			all[len(all)-1].text += line
		}
	}
	return all
}

// save writes a block to a file if its info names one, unless it is one that a
// pipeline writes.
func (b block) save(t *testing.T, dir string) {
	_, name, _ := strings.Cut(b.info, " ")
	if filepath.Ext(name) == "" || strings.HasPrefix(name, "out/") {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// session runs the commands of a document.
type session struct {
	t        *testing.T
	dir      string
	database string    // its URL, for DATABASE
	job      *exec.Cmd // in the background
}

func (s *session) play(b block, exact bool) {
	for chunk := range strings.SplitSeq("\n"+b.text, "\n$ ") {
		command, want, _ := strings.Cut(chunk, "\n")
		if command == "" {
			continue
		}
		got := s.run(command)
		if !matches(lines(got, exact), lines(want, exact)) {
			s.t.Errorf("line %d: $ %s\nprints\n%sthe document says\n%s", b.line, command, got, want)
		}
	}
}

// run runs one command and returns its stdout.
func (s *session) run(command string) string {
	s.t.Helper()
	command, behind := strings.CutSuffix(command, " &")
	switch {
	case behind:
		s.begin(command)
		return ""
	case command == "kill -9 $!":
		_ = s.job.Process.Kill()
		_ = s.job.Wait() // it was killed
		return ""
	}
	var stderr bytes.Buffer
	cmd := s.command(command)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("$ %s\n%s%s%v", command, out, stderr.Bytes(), err)
	}
	return string(out)
}

func (s *session) command(text string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), "sh", "-c", text)
	cmd.Dir = s.dir
	cmd.Env = append(cmd.Environ(), "PATH="+binDir+string(os.PathListSeparator)+os.Getenv("PATH"), "DATABASE="+s.database)
	return cmd
}

// begin starts a command in the background and waits until it tells of its
// progress.
func (s *session) begin(text string) {
	s.job = s.command("exec " + text)
	r, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Close()
	s.t.Cleanup(func() { r.Close() })
	s.job.Stdout, s.job.Stderr = w, w
	if err := s.job.Start(); err != nil {
		s.t.Fatal(err)
	}
	w.Close() // the job has its own
	in := bufio.NewReader(r)
	for said := ""; !strings.Contains(said, "msg=progress") && !strings.Contains(said, " clicks, "); {
		line, err := in.ReadString('\n')
		if said += line; err != nil {
			s.t.Fatalf("$ %s &\n%sended before it told of its progress: %v", text, said, err)
		}
	}
	go io.Copy(io.Discard, in) // ends with the job
}

var (
	number = regexp.MustCompile(`-?[0-9]([0-9 .]*[0-9])?(ms|µs|s)?\b`)
	spaces = regexp.MustCompile(` +`)
	values = regexp.MustCompile(`":("[^"]*"|true|false|-?[0-9.]+)`)
)

// lines splits what was printed; what may differ between runs becomes the same.
func lines(text string, exact bool) []string {
	if !exact {
		text = values.ReplaceAllString(text, `":…`)
		text = number.ReplaceAllString(text, "…")
		text = spaces.ReplaceAllString(text, " ")
	}
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// matches compares lines; "..." among the wanted ones stands for any.
func matches(got, want []string) bool {
	i := slices.Index(want, "...")
	if i < 0 {
		return slices.Equal(got, want)
	}
	if len(got) < i || !slices.Equal(got[:i], want[:i]) {
		return false
	}
	for from := i; from <= len(got); from++ {
		if matches(got[from:], want[i+1:]) {
			return true
		}
	}
	return false
}

func TestTheThreeNotationsOfTheQuickstartSayTheSame(t *testing.T) {
	formats := map[string]yson.Format{"yson": yson.YSON, "yaml": yson.YAML, "json": yson.JSON}
	said := map[string]string{}
	for _, b := range blocks(t, "quickstart.md") {
		format, ok := formats[b.info]
		if !ok {
			continue
		}
		node, err := yson.Parse([]byte(b.text), format)
		if err != nil {
			t.Fatalf("line %d: %v", b.line, err)
		}
		said[b.info] = string(yson.Encode(node))
	}
	if len(said) != 3 || said["yson"] != said["yaml"] || said["yson"] != said["json"] {
		t.Errorf("the notations say %q", said)
	}
}
