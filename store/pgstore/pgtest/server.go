package pgtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
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
	dir      string
	bin      string
	as       *syscall.Credential
	flags    []string
	port     int
	password string // of who comes by TCP
	cmd      *exec.Cmd
	exited   chan error
	guard    *guard
	log      *os.File
}

// startWait is how long a server may take to start or to recover.
const startWait = time.Minute

// Start makes a server and waits until it answers. Flags are more of postgres'
// own, like -c autovacuum=off. An error says what is missing.
func Start(flags ...string) (*Server, error) {
	return start("", flags, (*Server).init)
}

// StartTCP makes a server that listens on a port of this machine, too, where it
// wants a password: for a Proxy.
func StartTCP(flags ...string) (*Server, error) {
	return start("", append(flags, "-c", "listen_addresses=127.0.0.1"), (*Server).init)
}

// StartOn makes a server whose folder is in one that is there, such as a disk of its
// own.
func StartOn(parent string, flags ...string) (*Server, error) {
	return start(parent, flags, (*Server).init)
}

// start makes a server, with what fills its data folder.
func start(parent string, flags []string, fill func(*Server) error) (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	as, err := credential()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "rondo-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, as: as, flags: flags, password: rand.Text()}
	taken, err := takePort()
	if err == nil {
		s.port = taken.Addr().(*net.TCPAddr).Port
		err = errors.Join(s.own(dir), fill(s), taken.Close())
	}
	if err == nil {
		s.log, err = os.Create(filepath.Join(s.dir, "log"))
	}
	if err == nil {
		err = s.Begin()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// takePort takes a port that nobody has, until a server wants it; the name of its
// socket has it, too. It is none of those that systems give to whoever asks for any,
// and to connections: a server has to get it back after it has ended.
func takePort() (l net.Listener, err error) {
	for range 100 {
		port := 12_000 + mathrand.IntN(20_000)
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return l, nil
		}
	}
	return nil, err
}

// own gives a file to whom the server runs as.
func (s *Server) own(path string) error {
	if s.as == nil {
		return nil
	}
	return os.Chown(path, int(s.as.Uid), int(s.as.Gid))
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
	secret := filepath.Join(s.dir, "password")
	if err := errors.Join(os.WriteFile(secret, []byte(s.password+"\n"), 0o600), s.own(secret)); err != nil {
		return err
	}
	return s.make("initdb", "-D", s.data(), "-U", "rondo", "--pwfile", secret,
		"--auth-local=trust", "--auth-host=scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync")
}

// make runs a program that fills the data folder.
func (s *Server) make(name string, args ...string) error {
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// Begin starts the server, which was stopped, and waits until it answers.
func (s *Server) Begin() error {
	args := []string{
		"-D", s.data(), "-k", s.dir, "-p", strconv.Itoa(s.port), "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700", "-c", "max_connections=200",
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
	return fmt.Sprintf("postgres:///postgres?user=rondo&host=%s&port=%d%s", s.dir, s.port, inSchema(schema))
}

// TCP is where a store of a schema lies in a server of StartTCP, by its port.
func (s *Server) TCP(schema string) string {
	return s.at(fmt.Sprintf("127.0.0.1:%d", s.port), schema)
}

// at is a URL by an address that leads to the server's port.
func (s *Server) at(address, schema string) string {
	return fmt.Sprintf("postgres://rondo:%s@%s/postgres?sslmode=disable%s", s.password, address, inSchema(schema))
}

func inSchema(schema string) string {
	if schema == "" {
		return ""
	}
	return "&rondo_schema=" + schema
}

// Socket is the file that the server listens on.
func (s *Server) Socket() string { return filepath.Join(s.dir, fmt.Sprintf(".s.PGSQL.%d", s.port)) }

// Dir is the server's folder.
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
