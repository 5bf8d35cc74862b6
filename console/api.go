package console

import "time"

// Status is what is known of a pipeline.
type Status struct {
	Pipeline string `json:"pipeline"`
	// Running tells whether a process runs it; Completed, that nothing is left to
	// do.
	Running   bool `json:"running"`
	Completed bool `json:"completed"`
	// State is that of [engine.State] while it runs, or workers have it; else completed
	// or stopped, however it came to stop.
	State string `json:"state"`
	// Version is that of the dynamic spec in force.
	Version uint64 `json:"spec_version"`
	// The counters are over the whole life of the pipeline. Rate and elapsed time
	// are of this run.
	Messages uint64           `json:"messages"`
	Epochs   uint64           `json:"epochs"`
	Visits   uint64           `json:"visits"`
	Passes   uint64           `json:"passes"`
	Counts   map[string]int64 `json:"counts"`
	// Timers is absent where no computation has timer streams.
	Timers  *Timers `json:"timers,omitempty"`
	Rate    float64 `json:"messages_per_second"`
	Elapsed float64 `json:"elapsed_seconds"`

	Partitions []Partition `json:"partitions"`
	// Workers are those that run the pipeline together, if it is a cluster.
	Workers []Worker `json:"workers,omitempty"`
	// Tables are the static tables that are joined, as this run knows them.
	Tables []Table `json:"tables,omitempty"`
	// Problems is the status tree: everything that is wrong now, sorted by path; of a
	// pipeline that does not run, what was wrong when its last run ended.
	Problems []Problem `json:"problems"`
}

// Worker is a process of a cluster, by what it told at its last beat.
type Worker struct {
	ID         string  `json:"worker_id"`
	Group      string  `json:"worker_group"`
	Host       string  `json:"host"`
	PID        int     `json:"pid"`
	Controller bool    `json:"controller"`
	Partitions int     `json:"partitions"`
	Unseen     float64 `json:"unseen_seconds"`
	// Silent: it has not been heard of for longer than its lease, so that others get its
	// partitions.
	Silent bool `json:"silent"`
	// ClockOff is how far the clock of its machine is before that of the database.
	ClockOff float64 `json:"clock_off_seconds"`
}

// Timers are those of all timer streams.
type Timers struct {
	Fired uint64 `json:"fired"`
	// Pending are those that are set and have not fired; More tells that there are
	// more, since they are counted up to a hundred thousand.
	Pending int  `json:"pending"`
	More    bool `json:"more_pending,omitempty"`
}

// Partition is one partition of a computation.
type Partition struct {
	ID          uint64 `json:"partition_id"`
	Computation string `json:"computation_id"`
	Kind        string `json:"kind"`                // range, source or sink
	Phase       string `json:"state"`               // as engine.Phase; of a stopped pipeline executing or completed
	Worker      string `json:"worker_id,omitempty"` // who runs it, in a cluster
	Restarts    int    `json:"restarts"`
	Conflicts   int    `json:"conflicts"` // epochs that ran again because others had changed their rows
	// Waiting are the messages in memory that were not taken yet.
	Waiting  int    `json:"waiting_messages"`
	Epochs   uint64 `json:"epochs"`
	Messages uint64 `json:"messages"`
	Visits   uint64 `json:"visits"`
}

// Table is a static table that a computation joins.
type Table struct {
	Computation string `json:"computation_id"`
	Joiner      string `json:"joiner"`
	Path        string `json:"path"`
	// Rows is the length of the version in use, null before one was read.
	Rows *int64 `json:"rows"`
	// Listed counts rows and BytesRead what was read for them, ReaderOpens how often
	// reading began anew, FailedReads what failed, and Replaced how often the table
	// became another one.
	Listed      int64 `json:"listed_rows"`
	BytesRead   int64 `json:"read_bytes"`
	ReaderOpens int64 `json:"reader_opens"`
	FailedReads int64 `json:"failed_reads"`
	Replaced    int64 `json:"replaced"`
	// Unavailable: it cannot be read now. Doubtful: what it does not have counts as
	// unknown, since it shrank by so much.
	Unavailable bool `json:"source_unavailable"`
	Doubtful    bool `json:"shrunk"`
}

// Problem is something that is wrong. It goes when its cause does.
type Problem struct {
	// Path is where it shows, in the tree of computations, partitions and visit
	// streams, such as
	// /computations/routes/partitions/3/key_visitor/sweep/background_fill.
	Path    string `json:"path"`
	Message string `json:"error"`
	// Warning says that nothing fails because of it.
	Warning bool `json:"warning"`
}

// Visits are all visit streams.
type Visits struct {
	Pipeline string        `json:"pipeline"`
	Running  bool          `json:"running"`
	Streams  []VisitStream `json:"streams"`
}

// VisitStream is a visit stream over all partitions of its computation. Fields
// that the reference system has a metric for have its name. A number that is not
// known is not there, which is not the same as 0.
type VisitStream struct {
	Computation string `json:"computation_id"`
	Stream      string `json:"stream_id"`
	// State is scanning, suspended, disabled, completed, or, of a pipeline that
	// does not run, stopped.
	State      string `json:"state"`
	Partitions int    `json:"partition_count"`
	// Pass is the one that the slowest partition is in; Progress is the part of
	// the keys that is through it in all partitions, 0 to 1. Final: it is the last
	// one. RunNow: it was ordered.
	Pass     uint64  `json:"pass"`
	Final    bool    `json:"final_pass"`
	RunNow   bool    `json:"run_now"`
	Progress float64 `json:"pass_progress"`
	CatchUp  bool    `json:"catch_up"`

	// Lag is how far the scan is behind its schedule, Left the time that the pass
	// is expected to take yet, and MaxAge bounds how long ago the least recently
	// visited key was visited (KV-45, KV-48).
	Lag    float64  `json:"schedule_lag_seconds"`
	Left   *float64 `json:"eta_seconds,omitempty"`
	MaxAge float64  `json:"oldest_visit_age_seconds"`
	// EventLag is now minus the watermark.
	EventLag *float64 `json:"event_time_lag_seconds,omitempty"`

	// Ready are the visits that wait, with the bytes of their rows. Offered is the
	// target pace, which is also what is new, and Processed the achieved one, in
	// visits per second (KV-47); Pace is their ratio.
	Ready        *int     `json:"ready_count,omitempty"`
	ReadyBytes   *int     `json:"ready_byte_size,omitempty"`
	New          *float64 `json:"new_count_per_sec,omitempty"`
	NewBytes     *float64 `json:"new_bytes_per_sec,omitempty"`
	Offered      *float64 `json:"offered_count_per_sec,omitempty"`
	OfferedBytes *float64 `json:"offered_bytes_per_sec,omitempty"`
	Processed    *float64 `json:"processed_count_per_sec,omitempty"`
	Pace         *float64 `json:"pace,omitempty"`

	// The counters are of the running pass, committed epochs only (KV-16).
	Seen      uint64 `json:"seen_count"`
	Delivered uint64 `json:"delivered_count"`
	Failed    uint64 `json:"failed_count"`
	Gone      uint64 `json:"gone_count"`

	Problems []Problem `json:"errors"`
}

// Passes are the passes of a visit stream that are remembered: the last 16 of
// each partition, oldest first (KV-16).
type Passes struct {
	Computation string            `json:"computation_id"`
	Stream      string            `json:"stream_id"`
	Partitions  []PartitionPasses `json:"partitions"`
}

// PartitionPasses are those of one partition.
type PartitionPasses struct {
	Partition uint64 `json:"partition_id"`
	Passes    []Pass `json:"passes"`
}

// Pass is a completed pass.
type Pass struct {
	Pass      uint64    `json:"pass"`
	Final     bool      `json:"final_pass"`
	Start     time.Time `json:"start"`
	End       time.Time `json:"end"`
	Seen      uint64    `json:"seen_count"`
	Delivered uint64    `json:"delivered_count"`
	Failed    uint64    `json:"failed_count"`
	Gone      uint64    `json:"gone_count"`
}

// RunNowRequest orders a pass at once. Period is a duration such as "10m"; empty
// is as fast as visit_share allows (KV-49).
type RunNowRequest struct {
	Period string `json:"period,omitempty"`
}

// Spec is the specification in force, its parts as YSON text.
type Spec struct {
	Name    string `json:"name"`
	Static  string `json:"spec"`
	Dynamic string `json:"dynamic_spec"`
	Version uint64 `json:"version"`
}

// SetRequest changes a parameter of the dynamic spec (KV-50). Path is one below
// dynamic_spec, with dots between names and quotes around a name that has a dot.
// Value is YSON text, or plain text such as 5s; null takes away what was given.
// Version, unless it is 0, has to be the one in force.
type SetRequest struct {
	Path    string  `json:"path"`
	Value   *string `json:"value"`
	Version uint64  `json:"version,omitempty"`
}

// SetAnswer has the version that the change made.
type SetAnswer struct {
	Version uint64 `json:"version"`
}

// RepartitionRequest asks for a number of partitions of a computation; 0 is what
// the dynamic spec says. The answer comes when it is done.
type RepartitionRequest struct {
	Computation string `json:"computation_id"`
	// Partitions must be given: 0 is the number that the dynamic spec asks for.
	Partitions *int `json:"partition_count"`
}

// BackupRequest asks for a copy of the data folder in Dir, an absolute path at
// which nothing is yet. The answer comes when it is done.
type BackupRequest struct {
	Dir string `json:"dir"`
}

// BackupAnswer says what the copy does not hold: files that sinks write outside
// the data folder.
type BackupAnswer struct {
	Left []string `json:"left_out"`
}

// StateKeys asks for all states of some keys, which are encoded as the store has
// them.
type StateKeys struct {
	Computation string   `json:"computation_id"`
	Keys        [][]byte `json:"keys"`
}

// StateList asks for the keys of a range, as [store.ListRequest] does.
type StateList struct {
	Computation string   `json:"computation_id"`
	Lower       []byte   `json:"lower"`
	Upper       []byte   `json:"upper"`
	Names       []string `json:"names"`
	MaxRows     int      `json:"max_rows"`
	MaxBytes    int      `json:"max_bytes"`
}

// States is the answer to both. Complete and CompleteTo are as in
// [store.ListAnswer].
type States struct {
	Keys       []StateKey `json:"keys"`
	Complete   bool       `json:"complete"`
	CompleteTo []byte     `json:"complete_to"`
}

// StateKey is a key with its states.
type StateKey struct {
	Key    []byte     `json:"key"`
	States []StateRow `json:"states"`
}

// StateRow is one state.
type StateRow struct {
	Name  string `json:"name"`
	Value []byte `json:"value"`
}
