package pgstore

import (
	"fmt"
	"strings"
)

// statements are those that are made for a user's table. Names of its columns are
// quoted; whatever comes from rows travels in arguments. As in the statements of
// Rondo's own tables, a lateral subquery with OFFSET 0 is looked up row by row, and
// locks what it reads before anything is compared.
type statements struct {
	get, lock, remove, change, add, put string
}

// match finds a row t by what w tells of its key.
func (r *relation) match() string {
	parts := make([]string, len(r.plain))
	for n, i := range r.plain {
		c := &r.columns[i]
		parts[n] = fmt.Sprintf("t.%s = %s", c.quoted, fmt.Sprintf(c.write, fmt.Sprintf("w.k%d", n)))
	}
	return strings.Join(parts, " AND ")
}

// each lists something of all columns.
func (r *relation) each(of func(i int, c *column) string) string {
	var parts []string
	for i := range r.columns {
		if part := of(i, &r.columns[i]); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// reads are the columns of t as they travel.
func (r *relation) reads() string {
	return r.each(func(i int, c *column) string { return fmt.Sprintf("%s AS c%d", fmt.Sprintf(c.read, "t."+c.quoted), i) })
}

// taken is a clause of arguments from the one with a number on: keys, and then
// columns under a letter if all is true.
func (r *relation) taken(first int, flags []string, keys bool, letter string) string {
	var arrays, names []string
	add := func(t, name string) {
		arrays, names = append(arrays, fmt.Sprintf("$%d::%s[]", first+len(arrays), t)), append(names, name)
	}
	for _, f := range flags {
		add("boolean", f)
	}
	if keys {
		for n, i := range r.plain {
			add(string(r.columns[i].travel), fmt.Sprintf("k%d", n))
		}
	}
	if letter != "" {
		for i := range r.columns {
			add(string(r.columns[i].travel), fmt.Sprintf("%s%d", letter, i))
		}
	}
	return fmt.Sprintf("unnest(%s) w (%s)", strings.Join(arrays, ", "), strings.Join(names, ", "))
}

func statementsOf(r *relation) (s statements) {
	s.get = fmt.Sprintf(`SELECT %s FROM %s CROSS JOIN LATERAL (SELECT t.* FROM %s t WHERE %s OFFSET 0) t WHERE table_is_there($1)`,
		r.reads(), r.taken(2, nil, true, ""), r.quoted, r.match())

	same := r.each(func(i int, c *column) string { return same(c, fmt.Sprintf("l.c%d", i), fmt.Sprintf("w.o%d", i)) })
	s.lock = fmt.Sprintf(`SELECT rows_are_as_read($1, count(*) FILTER (WHERE w.checked AND (
		w.was IS DISTINCT FROM coalesce(l.there, false) OR w.was AND NOT (%s))))
		FROM %s LEFT JOIN LATERAL (SELECT true AS there, %s FROM %s t WHERE %s OFFSET 0 FOR UPDATE) l ON true`,
		strings.ReplaceAll(same, ", ", " AND "), r.taken(2, []string{"checked", "was"}, true, "o"), r.reads(), r.quoted, r.match())

	place := fmt.Sprintf(`CROSS JOIN LATERAL (SELECT t.ctid AS place FROM %s t WHERE %s OFFSET 0) l`, r.quoted, r.match())
	s.remove = fmt.Sprintf(`WITH found AS MATERIALIZED (SELECT l.place FROM %s %s),
		gone AS (DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING 1) %s`,
		r.taken(2, nil, true, ""), place, r.quoted, written("(SELECT count(*) FROM found)", "gone"))

	news := func(from string) string {
		return r.each(func(i int, c *column) string { return fmt.Sprintf(c.write, fmt.Sprintf("%s.n%d", from, i)) })
	}
	sets := r.each(func(i int, c *column) string {
		if c.SortOrder != "" {
			return ""
		}
		return fmt.Sprintf("%s = %s", c.quoted, fmt.Sprintf(c.write, fmt.Sprintf("s.n%d", i)))
	})
	if sets != "" {
		s.change = fmt.Sprintf(`WITH found AS MATERIALIZED (SELECT w.*, l.place FROM %s %s),
			changed AS (UPDATE %s u SET %s FROM found s WHERE u.ctid = s.place RETURNING 1) %s`,
			r.taken(2, nil, true, "n"), place, r.quoted, sets, written("(SELECT count(*) FROM found)", "changed"))
	}

	stored := fmt.Sprintf("WITH stored AS (INSERT INTO %s (%s) SELECT %s FROM %s ON CONFLICT (%s) DO %s RETURNING xmax = 0 AS made)",
		r.quoted, r.each(func(_ int, c *column) string { return c.quoted }), news("w"), r.taken(3, nil, false, "n"), r.found(), r.overwrite())
	// A row that came meanwhile is overwritten rather than passed over, so that it is told
	// from one that a trigger kept from being made: only a row that was there has an xmax.
	s.add = stored + " SELECT rows_are_as_read($1, count(*) FILTER (WHERE NOT made)), rows_are_written($1, $2::bigint - count(*)) FROM stored"
	s.put = stored + " " + written("$2::bigint", "stored")
	return s
}

// written compares how many rows there were to write with how many were: a trigger may
// keep a row as it is, and nothing else tells of that.
func written(all, done string) string {
	return fmt.Sprintf("SELECT rows_are_written($1, %s - (SELECT count(*) FROM %s))", all, done)
}

// same compares a column that was read with what it was.
func same(c *column, is, was string) string {
	if c.travel == asText {
		is, was = is+` COLLATE "C"`, was+` COLLATE "C"`
	}
	return is + " IS NOT DISTINCT FROM " + was
}

// found lists what rows are found by.
func (r *relation) found() string {
	parts := make([]string, len(r.plain))
	for n, i := range r.plain {
		parts[n] = r.columns[i].quoted
	}
	return strings.Join(parts, ", ")
}

// overwrite puts a row in the place of another one; its hash too, which then is right.
func (r *relation) overwrite() string {
	sets := r.each(func(_ int, c *column) string {
		if c.SortOrder != "" && c.Expression == "" {
			return ""
		}
		return fmt.Sprintf("%s = excluded.%s", c.quoted, c.quoted)
	})
	if sets == "" { // the key is all there is: written again, so that it counts
		sets = fmt.Sprintf("%s = excluded.%[1]s", r.columns[r.plain[0]].quoted)
	}
	return "UPDATE SET " + sets
}
