package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a running server. It syncs what it commits, as one in earnest does.
type Server struct {
	dir    string
	bin    string
	as     *syscall.Credential
	flags  []string
	cmd    *exec.Cmd
	exited chan error
	guard  *guard
	log    *os.File
}

// startWait is how long a server may take to start or to recover.
const startWait = time.Minute

// Start makes a server and waits until it answers. Flags are more of postgres'
// own, like -c autovacuum=off. An error says what is missing.
func Start(flags ...string) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	as, err := credential()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rondo-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, as: as, flags: flags}
	if err := errors.Join(s.init(), s.Begin()); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// binaries finds the folder with initdb and postgres.
func binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil && complete(filepath.Dir(real)) {
			return filepath.Dir(real), nil
		}
		if complete(filepath.Dir(path)) {
			return filepath.Dir(path), nil
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well formed
	slices.Sort(found)
	for _, dir := range slices.Backward(found) {
		if complete(dir) {
			return dir, nil
		}
	}
	return "", errors.New("these tests need a PostgreSQL server, 15 or later: install it, on Debian with apt-get install postgresql, or put its bin folder on PATH")
}

func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// credential is whom the server runs as: root must not, so somebody else stands in.
func credential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("a PostgreSQL server does not run as root, and there is no user postgres or nobody that it could run as")
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Setpgid: true}
	return cmd
}

func (s *Server) init() error {
	if s.as != nil {
		if err := os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			return err
		}
	}
	out, err := s.command("initdb", "-D", s.data(), "-U", "rondo", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	s.log, err = os.Create(filepath.Join(s.dir, "log"))
	return err
}

// Begin starts the server, which was stopped, and waits until it answers.
func (s *Server) Begin() error {
	args := []string{
		"-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700", "-c", "max_connections=200",
		"-c", "shared_buffers=64MB",
	}
	s.cmd = s.command("postgres", append(args, s.flags...)...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.exited = make(chan error, 1)
	go func(cmd *exec.Cmd, exited chan<- error) { exited <- cmd.Wait() }(s.cmd, s.exited)
	var err error
	if s.guard, err = newGuard(s.cmd.Process.Pid, s.dir); err != nil {
		return errors.Join(err, s.cmd.Process.Kill())
	}
	return s.await()
}

// await polls until the server answers.
func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWait)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL(""))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case gone := <-s.exited:
			s.exited <- gone
			return fmt.Errorf("the PostgreSQL server ended: %w: %s", errors.Join(gone, err), s.said())
		case <-ctx.Done():
			return fmt.Errorf("the PostgreSQL server does not answer: %w: %s", err, s.said())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) said() []byte {
	text, _ := os.ReadFile(s.log.Name())
	return bytes.TrimSpace(text)
}

// URL is where a store of a schema lies in the server.
func (s *Server) URL(schema string) string {
	url := "postgres:///postgres?user=rondo&host=" + s.dir
	if schema != "" {
		url += "&rondo_schema=" + schema
	}
	return url
}

// Dir is the folder of the server's socket, as host in a URL.
func (s *Server) Dir() string { return s.dir }

// Crash ends the server as a failing machine would, but for what the disk had not
// yet got: it recovers from its log when it begins again.
func (s *Server) Crash() error { return s.end(syscall.SIGQUIT) }

// Stop ends the server and waits for what is open to be written.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

func (s *Server) end(how syscall.Signal) error {
	if s.cmd == nil {
		return nil // it has ended before
	}
	defer func() { s.cmd = nil }()
	if err := s.cmd.Process.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-s.exited:
		return s.guard.dismiss()
	case <-time.After(startWait):
		return fmt.Errorf("the PostgreSQL server, process %d, does not end: %s", s.cmd.Process.Pid, s.said())
	}
}

// Close stops the server and removes all that it had.
func (s *Server) Close() error {
	return errors.Join(s.Crash(), s.log.Close(), os.RemoveAll(s.dir))
}
