//go:build unix

package docs

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-flow/rondo/external"
	"github.com/rondo-flow/rondo/flow"
)

// plans are the table of external.md's second pipeline.
type plans struct{ *shown }

// put sorts a version of it into its place.
func (p plans) put(version string) {
	p.t.Helper()
	_, err := external.Sort(context.Background(), external.SortOptions{
		In: filepath.Join(p.dir, version), Out: p.path(), Key: "hash=farm_hash(user),user", Memory: external.MinSortMemory,
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p plans) path() string { return filepath.Join(p.dir, "plans.csv") }

// TestAccountsFollowTheirTable plays two versions, with outages before, between and
// after them: the notices are those that the document shows.
func TestAccountsFollowTheirTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plans{show(t, "external.md", "accounts.yaml", map[string]flow.Factory{
			"accounts": func(flow.Setup) (flow.Function, error) {
				return &accounts{flow.NewState[account]("/account", nil)}, nil
			},
		})}
		const hours = 3 * time.Hour
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, policy := range []string{"path: plans.csv", "path: plans.csv, unavailable_source_policy: mark_unreadable"} {
			p.run(hours, "path: plans.csv", policy) // there is no table yet
		}
		p.put("plans-1.csv")
		p.run(hours, "", "")
		for _, policy := range []string{"path: plans.csv", "path: plans.csv, unavailable_source_policy: mark_unreadable"} {
			must(os.Rename(p.path(), p.path()+".lost"))
			p.run(hours, "path: plans.csv", policy)
			must(os.Rename(p.path()+".lost", p.path()))
		}
		p.put("plans-2.csv")
		p.run(hours, "", "")
		must(os.Truncate(p.path(), 20))
		p.run(hours, "", "")
		p.wrote("notices.jsonl", says(t, "external.md", "notices.jsonl"))
	})
}
