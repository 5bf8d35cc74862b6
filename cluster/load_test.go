package cluster_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestTheNumberOfPartitionsFollowsTheLoadOfACluster: it grows to what the load needs, as
// far as it may, while two workers run; nothing is lost or repeated on the way.
func TestTheNumberOfPartitionsFollowsTheLoadOfACluster(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := &program{functions: []string{"shout"}}
	job := strings.Replace(fmt.Sprintf(own, "datagen", strings.Replace(made, "count = 4000", "count = 20000", 1), ""), "desired_partition_count = 3",
		`auto_partition_count = %true; max_partition_count = 8; desired_average_partition_messages_per_second = 50;
		partition_count_double_delay = "1s"; partition_count_half_delay = "1h"`, 1)
	r.must(r.submit(p, job))
	if n := len(r.owners("shouter")); n != 3 && n != 4 {
		t.Fatalf("it begins with %d partitions", n)
	}
	a, b := r.hire(p), r.hire(p)
	r.await("partitions for the load", func() bool { return len(r.owners("shouter")) == 8 })
	r.must(r.ended(a))
	r.must(r.ended(b))
	if n := len(r.owners("shouter")); n != 8 {
		t.Errorf("there are %d partitions at the end", n)
	}
	if n := r.pulled("out"); n != 20000 {
		t.Errorf("%d rows came out of 20000", n)
	}
}
