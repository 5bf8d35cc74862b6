package external

// Status is what a joiner tells of itself.
type Status struct {
	// Name is the joiner's, Path the table's.
	Name, Path string
	// Rows is the length of the version in use, -1 before there is one.
	Rows int64
	// BytesRead counts what was read of the file, ReaderOpens how often a position
	// was set anew, FailedReads what failed, Listed the rows that were listed, and
	// Replaced how often the table became another one.
	BytesRead, ReaderOpens, FailedReads, Listed, Replaced int64
	// Unavailable is why the table cannot be read now, "" while it can.
	Unavailable string
	// Doubtful: it shrank by so much that what it does not have is unknown, until
	// it is accepted (KV-55).
	Doubtful bool
}

// Status returns what is known now. It waits for no reading.
func (j *Joiner) Status() Status {
	s := Status{
		Name: j.name, Path: j.source.path, Rows: -1,
		BytesRead: j.read.Load(), ReaderOpens: j.opens.Load(), FailedReads: j.failures.Load(),
		Listed: j.listed.Load(), Replaced: j.replacements.Load(),
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s.Doubtful = j.doubted != ""
	if j.current != nil {
		s.Rows = j.current.identity.Rows
	}
	if j.outage.failed != nil {
		s.Unavailable = j.outage.failed.Error()
	}
	return s
}

// ask returns why the table must not be read now.
func (j *Joiner) ask() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.outage.ask(j.now())
}

// fail begins a time in which the table is not read.
func (j *Joiner) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.outage.failed == nil {
		j.log.Warn("a table cannot be read", "joiner", j.name, "path", j.source.path, "error", err)
	}
	j.outage.fail(j.now(), err, j.dynamic.Load().Backoff)
}

// heal ends it.
func (j *Joiner) heal() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.outage.failed != nil {
		j.log.Info("a table can be read again", "joiner", j.name, "path", j.source.path)
	}
	j.outage.heal()
}

func (j *Joiner) failedRead() { j.failures.Add(1) }

// answerFor is what a list answers that could not read: by the policy.
func (j *Joiner) answerFor(err error) (Answer, error) {
	if j.policy == MarkUnreadable {
		return Answer{Unreadable: true}, nil
	}
	return Answer{}, err
}
