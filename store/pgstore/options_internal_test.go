package pgstore

import (
	"strings"
	"testing"
)

// TestSessionsHaveTheNamesThatOthersEndThemBy: a server cuts long names off and replaces
// what is not ASCII; nobody could end the sessions of such a worker (D-4).
func TestSessionsHaveTheNamesThatOthersEndThemBy(t *testing.T) {
	for id, good := range map[string]bool{
		"host-1": true, strings.Repeat("x", 50): true,
		strings.Repeat("x", 51): false, "höst": false, "host\n": false,
	} {
		p, err := locate("postgres://u@localhost:5432/d", Options{Worker: id})
		if good != (err == nil) {
			t.Errorf("worker %q: %v", id, err)
		}
		if err == nil && p.config.ConnConfig.RuntimeParams["application_name"] != sessionName(id) {
			t.Errorf("worker %q: %v", id, p.config.ConnConfig.RuntimeParams)
		}
	}
}
