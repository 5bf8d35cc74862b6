package cluster

import (
	"crypto/rand"
	"os"
	"strings"
)

// NewID makes the id of a worker: the host's name, for those who read it, and what
// no other worker has. It is plain ASCII, as names of a database's sessions are.
func NewID() string {
	host, _, _ := strings.Cut(thisProcess().Host, ".")
	host = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '-'
		}
		return r
	}, host)
	return host[:min(len(host), 20)] + "-" + strings.ToLower(rand.Text()[:10])
}

func thisProcess() Info {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Info{Host: host, PID: os.Getpid()}
}
