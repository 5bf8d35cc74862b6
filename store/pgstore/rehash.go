package pgstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// Rehash says how the computed columns of a user's table, such as its hash, are
// filled.
type Rehash struct {
	Table string // the name it was adopted by
	// Batch is how many rows are read, and those of them that are wrong written, in a
	// transaction; 1000.
	Batch int
	// DryRun changes nothing.
	DryRun bool
	// Progress is told after each transaction; nil: nobody is.
	Progress func(Rehashed)
}

// Rehashed counts rows: those read, those of them whose computed columns were wrong
// or null, and those that were then changed. Example tells of the first wrong one.
type Rehashed struct {
	Read, Wrong, Changed int64
	Example              string
}

// RehashTable makes the computed columns of a user's table what the schema computes.
// It reads the rows in order of the index by which they are found, a batch at a time,
// and writes only those that are wrong. So one that was stopped, in whatever way, is
// just begun again: rows that are right cost a look. A pipeline may run on the store
// meanwhile; rows that come or change while this goes by may be missed, and are found
// the next time.
func RehashTable(ctx context.Context, url string, o Options, r Rehash) (done Rehashed, err error) {
	p, err := locate(url, o)
	if err != nil {
		return done, err
	}
	if err := checkFormat(ctx, p); err != nil {
		return done, fmt.Errorf("%s: %w", p, classify(err))
	}
	conn, err := pgx.ConnectConfig(ctx, p.config.ConnConfig)
	if err != nil {
		return done, fmt.Errorf("%s: %w", p, classify(err))
	}
	defer hangUp(conn)
	if err := p.settle(ctx, conn, p.opts); err != nil {
		return done, fmt.Errorf("%s: %w", p, classify(err))
	}
	if r.Batch <= 0 {
		r.Batch = 1000
	}
	h := rehash{Rehash: r, conn: conn, sql: pgsql.New()}
	if err := h.find(ctx); err != nil {
		return done, classify(err)
	}
	for more := true; more; {
		if more, err = h.batch(ctx); err != nil {
			return h.done, h.explain(err)
		}
		if more && r.Progress != nil {
			r.Progress(h.done)
		}
	}
	return h.done, nil
}

type rehash struct {
	Rehash
	conn     *pgx.Conn
	sql      *pgsql.Queries
	relation *relation
	after    schema.Row // by its columns; nil at first
	done     Rehashed
}

// find looks the table up. It needs less than a pipeline does: the index by which
// rows are found, and rights to read and change them.
func (h *rehash) find(ctx context.Context) error {
	t, err := h.sql.TableNamed(ctx, h.conn, []byte(h.Table))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return &callersError{fmt.Errorf("%w called %s: rondo table create --sql makes it stand for a table of yours", store.ErrNoTable, h.Table)}
	case err != nil:
		return err
	case len(t.Relation) == 0:
		return &callersError{fmt.Errorf("the rows of table %s are in the store, which computes what is computed: there is nothing to rehash", h.Table)}
	}
	if h.relation, err = findRelation(ctx, h.sql, h.conn, &t); err != nil {
		return err
	}
	if !slices.ContainsFunc(h.relation.columns, func(c column) bool { return c.Expression != "" }) {
		return &callersError{fmt.Errorf("no column of table %s has an expression: there is nothing to rehash", h.Table)}
	}
	return h.usable()
}

// usable refuses a table without the index, which would be read anew for each batch,
// or without the rights.
func (h *rehash) usable() error {
	r := *h.relation
	r.lacks = nil
	r.denied = slices.DeleteFunc(slices.Clone(r.denied), func(right string) bool {
		return right == "INSERT" || right == "DELETE" || right == "UPDATE" && h.DryRun
	})
	if err := r.may(true); err != nil {
		return &callersError{err}
	}
	return nil
}

// batch reads rows behind those it has read, and tells whether there were some.
func (h *rehash) batch(ctx context.Context) (more bool, err error) {
	tx, err := h.conn.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // which is nothing after a commit
	rows, wrong, err := h.read(ctx, tx)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	changed := int64(0)
	if len(wrong) > 0 && !h.DryRun {
		locked, err := tx.Exec(ctx, h.lock(), h.relation.keyArrays(wrong)...)
		if err != nil {
			return false, err
		}
		tag, err := tx.Exec(ctx, h.update(), append(h.relation.keyArrays(wrong), h.computed(wrong)...)...)
		if err != nil {
			return false, err
		}
		if changed = tag.RowsAffected(); changed < locked.RowsAffected() {
			return false, &callersError{h.relation.refusal(fmt.Errorf("%d rows are as before, because of a trigger%s: disable it, and run this again",
				locked.RowsAffected()-changed, guards(ctx, h.sql, tx, h.relation)))}
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return false, err
	}
	h.after = rows[len(rows)-1]
	h.done.Read += int64(len(rows))
	h.done.Wrong += int64(len(wrong))
	h.done.Changed += changed
	return true, nil
}

// read returns rows with what their computed columns have to be, and those of them in
// which they are something else. Columns beside the key are null.
func (h *rehash) read(ctx context.Context, tx pgx.Tx) (rows, wrong []schema.Row, err error) {
	r := h.relation
	sql, args := h.query()
	found, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, nil, err
	}
	defer found.Close()
	targets := r.keyTargets()
	for found.Next() {
		if err := found.Scan(targets...); err != nil {
			return nil, nil, err
		}
		row := make(schema.Row, len(r.columns))
		right := true
		stored := make(schema.Row, len(r.columns))
		for i := range targets {
			v, err := r.columns[i].value(targets[i])
			if err != nil && r.columns[i].Expression == "" {
				return nil, nil, &callersError{r.refusal(fmt.Errorf("row %s: column %s: %w", r.keyText(stored), r.columns[i].Name, err))}
			}
			if stored[i] = v; r.columns[i].Expression == "" {
				row[i] = v
			}
			right = right && err == nil
		}
		if err := r.form.Complete(row); err != nil {
			return nil, nil, &callersError{r.refusal(fmt.Errorf("row %s: %w", r.keyText(stored), err))}
		}
		rows = append(rows, row)
		bad := r.hashed(stored, row)
		if bad != nil && h.done.Example == "" {
			h.done.Example = fmt.Sprintf("row %s: %s", r.keyText(stored), bad)
		}
		if bad != nil || !right {
			wrong = append(wrong, row)
		}
	}
	return rows, wrong, found.Err()
}

// query reads a batch in the index's own order.
func (h *rehash) query() (sql string, args []any) {
	r := h.relation
	var reads, order, marks []string
	for i := range r.form.Key().Len() {
		c := &r.columns[i]
		reads = append(reads, fmt.Sprintf(c.read, "t."+c.quoted))
	}
	for _, i := range r.plain {
		c := &r.columns[i]
		order = append(order, "t."+c.quoted)
		if h.after != nil {
			args = append(args, c.array([]schema.Value{h.after[i]}))
			marks = append(marks, fmt.Sprintf(c.write, fmt.Sprintf("($%d::%s[])[1]", len(args), c.travel)))
		}
	}
	where := ""
	if h.after != nil {
		where = fmt.Sprintf("WHERE (%s) > (%s)", strings.Join(order, ", "), strings.Join(marks, ", "))
	}
	return fmt.Sprintf("SELECT %s FROM %s t %s ORDER BY %s LIMIT %d", strings.Join(reads, ", "), r.quoted, where, strings.Join(order, ", "), h.Batch), args
}

// lock waits for those who change the rows, so that the next statement sees them as
// they are then.
func (h *rehash) lock() string {
	r := h.relation
	return fmt.Sprintf("SELECT FROM %s CROSS JOIN LATERAL (SELECT FROM %s t WHERE %s OFFSET 0 FOR UPDATE) l", r.taken(1, nil, true, ""), r.quoted, r.match())
}

// update changes the computed columns of rows that are still there.
func (h *rehash) update() string {
	r := h.relation
	var arrays, names, sets []string
	for n, i := range r.plain {
		arrays, names = append(arrays, fmt.Sprintf("$%d::%s[]", len(arrays)+1, r.columns[i].travel)), append(names, fmt.Sprintf("k%d", n))
	}
	for i := range r.columns {
		if c := &r.columns[i]; c.Expression != "" {
			arrays, names = append(arrays, fmt.Sprintf("$%d::%s[]", len(arrays)+1, c.travel)), append(names, fmt.Sprintf("n%d", i))
			sets = append(sets, fmt.Sprintf("%s = %s", c.quoted, fmt.Sprintf(c.write, fmt.Sprintf("s.n%d", i))))
		}
	}
	return fmt.Sprintf(`UPDATE %s u SET %s FROM (
		SELECT w.*, l.place FROM unnest(%s) w (%s) CROSS JOIN LATERAL (SELECT t.ctid AS place FROM %s t WHERE %s OFFSET 0) l
	) s WHERE u.ctid = s.place`, r.quoted, strings.Join(sets, ", "), strings.Join(arrays, ", "), strings.Join(names, ", "), r.quoted, r.match())
}

// computed are the arguments for computed columns.
func (h *rehash) computed(rows []schema.Row) (out []any) {
	for i := range h.relation.columns {
		if h.relation.columns[i].Expression != "" {
			out = append(out, h.relation.columnArray(i, rows))
		}
	}
	return out
}

// explain says what stopped it, and that it may be begun again.
func (h *rehash) explain(err error) error {
	name := h.relation.name
	if pg := refusing(err); pg != nil {
		what, do := advice(pg)
		return fmt.Errorf("table %s: %w by %s: %s: %s", name, store.ErrRefused, what, pg.Message, do)
	}
	if err = classify(err); errors.Is(err, store.ErrRefused) {
		return err
	}
	return fmt.Errorf("table %s: %w; %d rows were changed, and the same command goes on", name, err, h.done.Changed)
}
