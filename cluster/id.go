package cluster

import (
	"crypto/rand"
	"os"
	"strings"
)

// NewID makes the id of a worker: the host's name, for those who read it, and what
// no other worker has.
func NewID() string {
	host, _, _ := strings.Cut(thisProcess().Host, ".")
	return host[:min(len(host), 20)] + "-" + strings.ToLower(rand.Text()[:10])
}

func thisProcess() Info {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return Info{Host: host, PID: os.Getpid()}
}
