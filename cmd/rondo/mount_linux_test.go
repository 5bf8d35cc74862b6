package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// mountCommands are commands of the scripts. They run a command where a folder is
// something else: in a mount namespace that ends with it, so that nothing is left
// behind. Whoever is not root gets a user namespace too.
func mountCommands() map[string]func() {
	return map[string]func(){
		"room": room, "readonly": readOnly, "grow": grow,
	}
}

// room SIZE DIR COMMAND... gives a folder little room.
func room() {
	apart(func(args []string) ([]string, error) {
		return args[2:], syscall.Mount("none", args[1], "tmpfs", 0, "size="+args[0])
	})
}

// readonly DIR COMMAND... lets nobody write to a folder.
func readOnly() {
	apart(func(args []string) ([]string, error) {
		return args[1:], errors.Join(
			syscall.Mount(args[0], args[0], "", syscall.MS_BIND, ""),
			syscall.Mount(args[0], args[0], "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	})
}

// grow SIZE DIR gives a folder of room another size.
func grow() {
	check(syscall.Mount("none", os.Args[2], "tmpfs", syscall.MS_REMOUNT, "size="+os.Args[1]))
}

// apartMark tells the child of apart that it has its own namespace.
const apartMark = "RONDO_TEST_APART"

// apart starts this command again in a namespace of its own, where it mounts and
// then runs the command that mount returns.
func apart(mount func(args []string) (command []string, err error)) {
	if os.Getenv(apartMark) != os.Args[0] {
		self := exec.Command(os.Args[0], os.Args[1:]...)
		self.Env = append(os.Environ(), apartMark+"="+os.Args[0])
		self.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		if id := os.Getuid(); id != 0 {
			self.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			self.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
			self.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		}
		become(self)
	}
	check(syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""))
	command, err := mount(os.Args[1:])
	check(err)
	become(exec.Command(command[0], command[1:]...))
}

// become runs a command, passes Ctrl-C on to it, and exits as it does.
func become(c *exec.Cmd) {
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	check(c.Start())
	go func() {
		for s := range interrupts {
			_ = c.Process.Signal(s) // it may have ended
		}
	}()
	err := c.Wait()
	failed := (*exec.ExitError)(nil)
	if errors.As(err, &failed) {
		os.Exit(failed.ExitCode())
	}
	check(err)
	os.Exit(0)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, os.Args[0], err)
		os.Exit(99)
	}
}
