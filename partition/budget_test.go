package partition

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

func TestBudgetCutsAnEpochByTimeAndBytes(t *testing.T) {
	alone := Budget{MaxBytes: 100, Max: 100 * ms}
	beside := Budget{MaxBytes: 100, Max: 100 * ms, Share: 0.25}
	all := Budget{MaxBytes: 100, Max: 100 * ms, Share: 1}
	for _, c := range []struct {
		name    string
		b       Budget
		spent   time.Duration
		in, out int
		want    bool
	}{
		{"time is left", alone, 99 * ms, 0, 0, true},
		{"time is up", alone, 100 * ms, 0, 0, false},
		{"visits keep their share of the time", beside, 76 * ms, 0, 0, false},
		{"messages may use the rest", beside, 74 * ms, 0, 0, true},
		{"visits have all the time", all, ms, 0, 0, false},
		{"input bytes are up", alone, 0, 100, 0, false},
		{"output bytes are up", alone, 0, 0, 100, false},
	} {
		if got := c.b.MoreMessages(c.spent, c.in, c.out); got != c.want {
			t.Errorf("%s: another message %v, want %v", c.name, got, c.want)
		}
	}
}

func TestBudgetAlwaysAllowsOneVisit(t *testing.T) {
	b := Budget{MaxBytes: 100, Max: 100 * ms, Share: 0.25, Waiting: true, Credit: -time.Hour}
	if !b.MoreVisits(0, 100*ms, 0, 1000, false) {
		t.Error("the first visit is refused")
	}
	if b.MoreVisits(1, 100*ms, 0, 0, false) {
		t.Error("a second visit is allowed in spite of the debt")
	}
}

func TestBudgetWithoutWaitingMessagesIsBoundByTimeAlone(t *testing.T) {
	b := Budget{MaxBytes: 100, Max: 100 * ms, Share: 0.25}
	if !b.MoreVisits(5, 0, 99*ms, 0, false) || b.MoreVisits(5, 0, 100*ms, 0, false) {
		t.Error("visits are to use the whole epoch")
	}
	// Where no message is, a clock still measures how long it took to find none.
	if !b.MoreVisits(5, time.Nanosecond, 99*ms, 0, false) {
		t.Error("an epoch without messages is cut as if some waited for it")
	}
	if owed := b.settle(0, 99*ms); owed != 0 {
		t.Errorf("time that nobody else wanted is charged: %s", owed)
	}
}

// TestBudgetDoesNotKeepMessagesWaitingForManyVisits: neither those that the
// epoch has to commit, nor those that arrive meanwhile.
func TestBudgetDoesNotKeepMessagesWaitingForManyVisits(t *testing.T) {
	for name, c := range map[string]struct {
		messages, most  time.Duration
		beside, arrived bool
	}{
		"the epoch has messages":      {30 * ms, 10 * ms, true, false},
		"they took little time":       {ms / 2, ms / 4, true, false},
		"messages arrive":             {0, ms / 4, false, true},
		"messages arrive beside some": {30 * ms, 10 * ms, true, true},
	} {
		b := Budget{MaxBytes: 100, Max: 100 * ms, Share: 0.25, Beside: c.beside, Patience: patience(ms)}
		if !b.MoreVisits(5, c.messages, c.most-1, 0, c.arrived) || b.MoreVisits(5, c.messages, c.most, 0, c.arrived) {
			t.Errorf("%s: visits are to have %s", name, c.most)
		}
		if owed := b.settle(c.messages, c.most+20*ms); owed != 0 {
			t.Errorf("%s: time that nobody else wanted is charged: %s", name, owed)
		}
	}
}

func TestPatienceIsAPartOfACommitWithinBounds(t *testing.T) {
	for commit, want := range map[time.Duration]time.Duration{
		0: leastPatience, ms: ms / 4, time.Second: mostPatience,
	} {
		if got := patience(commit); got != want {
			t.Errorf("commits of %s: %s, want %s", commit, got, want)
		}
	}
}

// TestBudgetCountsMessagesOfTheEpochThatAreLeftOver: messages that the epoch
// takes and has no time for wait as much as those it does not take.
func TestBudgetCountsMessagesOfTheEpochThatAreLeftOver(t *testing.T) {
	b := Budget{MaxBytes: 100, Max: 100 * ms, Share: 0.25}
	if b.MoreMessages(75*ms, 0, 0) {
		t.Error("messages take the time of visits")
	}
	if !b.MoreVisits(5, 75*ms, 24*ms, 0, false) || b.MoreVisits(5, 75*ms, 25*ms, 0, false) {
		t.Error("visits are to get their share")
	}
	if owed := b.settle(75*ms, 15*ms); owed != 10*ms {
		t.Errorf("visits are owed %s", owed)
	}
}

// TestVisitsGetTheirShareWhileMessagesWait: over many epochs of random costs,
// visits get the share, neither more nor less (KV-30).
func TestVisitsGetTheirShareWhileMessagesWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0.05, 0.75).Draw(t, "share")
		message := time.Duration(rapid.IntRange(100, 5000).Draw(t, "message")) * time.Microsecond
		visit := time.Duration(rapid.IntRange(100, 5000).Draw(t, "visit")) * time.Microsecond
		var credit, messages, visits time.Duration
		for range 200 {
			b := Budget{MaxBytes: 1, Max: 100 * ms, Share: share, Waiting: true, Credit: credit}
			m, v := message, time.Duration(0)
			for b.MoreMessages(m, 0, 0) {
				m += message
			}
			for n := 0; b.MoreVisits(n, m, v, 0, false); n++ {
				v += visit
			}
			credit = b.settle(m, v)
			messages, visits = messages+m, visits+v
		}
		got := float64(visits) / float64(messages+visits)
		if got < share-0.02 || got > share+0.02 {
			t.Fatalf("visits got %.3f of the time, want %.3f", got, share)
		}
	})
}
