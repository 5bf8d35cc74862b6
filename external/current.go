package external

import (
	"context"
	"errors"
	"time"
)

// acquire returns the version that is at the path now, to be released; and whether
// what it does not have is unknown.
func (j *Joiner) acquire(ctx context.Context) (*version, bool, error) {
	select {
	case j.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	defer func() { <-j.opening }()
	at, err := j.source.now(ctx)
	if err != nil {
		return nil, false, j.named(err)
	}
	v := j.upToDate(at)
	if v == nil {
		if v, err = j.openAt(ctx, at); err != nil {
			return nil, false, err
		}
	}
	return v, j.use(v), nil
}

// spoiled is a version that was found to be malformed.
type spoiled struct {
	stamp stamp
	err   error
	until time.Duration // it is not opened again before
}

// openAt opens the version with a stamp, but not again and again if it is malformed:
// every partition asks for it, and to find that out may take all of a text. The caller
// holds opening.
func (j *Joiner) openAt(ctx context.Context, at stamp) (*version, error) {
	now := j.now()
	if s := j.spoiled; s.err != nil && s.stamp == at && now < s.until {
		return nil, s.err
	}
	v, err := j.source.open(ctx, wholly)
	j.spoiled = spoiled{}
	switch {
	case err == nil:
		v.opened = now
	case errors.Is(err, ErrMalformed):
		j.spoiled = spoiled{at, err, now + j.dynamic.Load().Backoff}
	}
	return v, err
}

// upToDate returns the current version if it is the one with that stamp. A table in the
// store that is too short is counted again now and then: it may have grown.
func (j *Joiner) upToDate(at stamp) *version {
	j.mu.Lock()
	defer j.mu.Unlock()
	v := j.current
	if v == nil || v.stamp != at || v.stored != nil && j.doubted != "" && j.now()-v.opened >= j.dynamic.Load().Backoff {
		return nil
	}
	return v
}

// use puts a version in place of the one before it, and takes it for one more
// user. It tells whether what the version does not have is unknown.
func (j *Joiner) use(v *version) (doubt bool) {
	doubt, news := j.place(v)
	switch {
	case !doubt:
		return false
	case j.record.accepted() == v.identity.String():
		j.believe(v)
		return false
	case news:
		if j.source.inStore {
			j.noteDoubt(v)
		}
		j.log.Warn("a table shrank by so much that what it does not have counts as unknown; if this is right, say so with rondo table accept",
			"joiner", j.name, "path", j.source.path, "rows", v.identity.Rows)
	}
	return true
}

// place makes a version the current one. Until it is believed it is doubted if it
// shrank (KV-55), so that no pass that is completed meanwhile records it. A doubted
// version that follows another one is news too: it is what there is to accept.
func (j *Joiner) place(v *version) (doubt, news bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if old := j.current; old != v {
		j.current, v.users = v, 1
		if old != nil {
			j.replaced(old, v)
		}
	}
	v.users++
	doubt = !v.accepted && shrunk(j.before, v.identity.Rows, j.dynamic.Load().MaxShrinkRatio)
	doubted := ""
	if doubt {
		doubted = v.identity.String()
	}
	news = doubt && doubted != j.doubted
	j.doubted = doubted
	return doubt, news
}

// believe notes that somebody accepted a version.
func (j *Joiner) believe(v *version) {
	j.mu.Lock()
	defer j.mu.Unlock()
	v.accepted, j.doubted = true, ""
}

// replaced tells of a version in place of another, and lets go of that.
func (j *Joiner) replaced(old, v *version) {
	if !old.identity.Same(v.identity) {
		j.replacements.Add(1)
		j.log.Warn("a table was replaced", "joiner", j.name, "path", j.source.path, "before", old.identity.String(), "now", v.identity.String())
	}
	leave(old)
}

// still tells whether the path has the version that was read.
func (j *Joiner) still(ctx context.Context, v *version) (bool, error) {
	now, _, err := j.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer j.release(now)
	return now == v || now.identity.Same(v.identity), nil
}

// hold keeps a version for one more user, who has it already.
func (j *Joiner) hold(v *version) {
	j.mu.Lock()
	defer j.mu.Unlock()
	v.users++
}

// release ends the use of a version.
func (j *Joiner) release(v *version) {
	j.mu.Lock()
	defer j.mu.Unlock()
	leave(v)
}

func leave(v *version) {
	if v.users--; v.users == 0 {
		_ = v.close() // it was read only
	}
}

func (v *version) close() error {
	if v.file == nil {
		return nil
	}
	return v.file.Close()
}
