package pgstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/rondo-flow/rondo/schema"
	"github.com/rondo-flow/rondo/store"
	"github.com/rondo-flow/rondo/store/pgstore/internal/pgsql"
)

// getOwn reads rows of a user's table by their keys.
func (s *Store) getOwn(ctx context.Context, db pgsql.DBTX, r *relation, keys [][]byte) (map[string][]byte, error) {
	var wanted []schema.Row
	for _, key := range keys {
		if row, whole := r.prefix(string(key)); whole && len(row) == r.form.Key().Len() {
			wanted = append(wanted, row) // any other one cannot be there
		}
	}
	found := map[string][]byte{}
	rows, err := db.Query(ctx, r.sql.get, append([]any{r.id}, r.keyArrays(wanted)...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	targets := r.targets()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		key, value, err := r.row(targets)
		if err != nil {
			return nil, err
		}
		found[key] = value
	}
	return found, rows.Err()
}

// keyArrays are the arguments by which rows are found.
func (r *relation) keyArrays(keys []schema.Row) []any {
	out := make([]any, len(r.plain))
	for n, i := range r.plain {
		out[n] = r.columnArray(i, keys)
	}
	return out
}

func (r *relation) columnArray(i int, rows []schema.Row) any {
	values := make([]schema.Value, len(rows))
	for k, row := range rows {
		if row != nil {
			values[k] = row[i]
		}
	}
	return r.columns[i].array(values)
}

// prefix reads as many columns of a key as it has, each of the type that the table
// has. It is whole if that is all of it.
func (r *relation) prefix(key string) (row schema.Row, whole bool) {
	for end := len(key); end > 0; end-- {
		row, err := schema.DecodeKey(key[:end])
		if err != nil || len(row) > r.form.Key().Len() {
			continue
		}
		for i, v := range row {
			if v.Kind() != r.columns[i].Type.Kind() {
				return row[:i], false
			}
		}
		return row, end == len(key)
	}
	return nil, key == ""
}

// ownPager reads pages of a user's table.
type ownPager struct {
	db       pgsql.DBTX
	relation *relation
	keysOnly bool
	beyond   bool // the page begins behind its key
}

// page reads rows until there are some in the range, or no more.
func (p *ownPager) page(ctx context.Context, q *pgsql.StatesPageParams) (out []pgsql.StatesPageRow, err error) {
	from, upper := string(q.AfterKey), string(q.Upper)
	for {
		read, err := p.read(ctx, from, q)
		p.beyond = true
		for i := range read {
			switch key := string(read[i].Key); {
			case upper != "" && key >= upper:
				return out, err
			case key >= string(q.AfterKey):
				out = append(out, read[i])
			}
		}
		if err != nil || len(read) == 0 || len(out) > 0 {
			return out, err
		}
		from = string(read[len(read)-1].Key)
	}
}

// read is one statement: rows in order of their keys, from a key on, with those
// around the bounds that only their bytes tell from those of the range.
func (p *ownPager) read(ctx context.Context, from string, q *pgsql.StatesPageParams) (out []pgsql.StatesPageRow, err error) {
	r := p.relation
	b := bounds{relation: r, args: []any{r.id, q.MaxRows, q.MaxBytes}}
	lower, whole := r.prefix(from)
	b.lower(lower, whole && p.beyond)
	upper, whole := r.prefix(string(q.Upper))
	b.upper(upper, whole)
	targets, size := r.targets(), "pg_column_size(t.*)::bigint"
	if p.keysOnly {
		targets, size = r.keyTargets(), "0::bigint"
	}
	sql := fmt.Sprintf(`SELECT %s FROM (
		SELECT s.*, sum(s.size) OVER (ROWS UNBOUNDED PRECEDING) - s.size AS before FROM (
			SELECT %s, %s AS size FROM %s t WHERE table_is_there($1)%s ORDER BY %s LIMIT $2::integer
		) s
	) p WHERE p.before <= $3::bigint`,
		r.each(func(i int, _ *column) string {
			if i >= len(targets) {
				return ""
			}
			return fmt.Sprintf("p.c%d", i)
		}), r.reads(), size, r.quoted, b.where.String(), r.order())
	rows, err := p.db.Query(ctx, sql, b.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		key, value, err := r.row(targets)
		if err != nil {
			return nil, err
		}
		out = append(out, pgsql.StatesPageRow{Key: []byte(key), Value: value})
	}
	return out, rows.Err()
}

// order is that of encoded keys.
func (r *relation) order() string {
	return r.each(func(_ int, c *column) string {
		if c.SortOrder == "" {
			return ""
		}
		return fmt.Sprintf(c.order, "t."+c.quoted)
	})
}

// bounds are conditions that a range makes. The first column has one of its own,
// for the index.
type bounds struct {
	relation *relation
	args     []any
	where    strings.Builder
}

func (b *bounds) lower(row schema.Row, beyond bool) {
	if len(row) > 0 {
		last := ">="
		if beyond {
			last = ">"
		}
		fmt.Fprintf(&b.where, " AND %s AND (%s)", b.compare(row, 0, ">="), b.lexical(row, 0, ">", last))
	}
}

func (b *bounds) upper(row schema.Row, whole bool) {
	if len(row) > 0 {
		last := "<"
		if !whole {
			last = "<="
		}
		fmt.Fprintf(&b.where, " AND %s AND (%s)", b.compare(row, 0, "<="), b.lexical(row, 0, "<", last))
	}
}

// lexical compares column by column.
func (b *bounds) lexical(row schema.Row, i int, op, last string) string {
	if i == len(row)-1 {
		return b.compare(row, i, last)
	}
	return fmt.Sprintf("%s OR %s AND (%s)", b.compare(row, i, op), b.compare(row, i, "="), b.lexical(row, i+1, op, last))
}

func (b *bounds) compare(row schema.Row, i int, op string) string {
	c := &b.relation.columns[i]
	b.args = append(b.args, c.array([]schema.Value{row[i]}))
	one := fmt.Sprintf("($%d::%s[])[1]", len(b.args), c.travel)
	return fmt.Sprintf("%s %s %s", fmt.Sprintf(c.order, "t."+c.quoted), op, fmt.Sprintf(c.bound, one))
}

// listOwn reads a range of a user's table as ListRows does.
func (s *Store) listOwn(ctx context.Context, db pgsql.DBTX, l *lister, r *relation) error {
	pager := ownPager{db: db, relation: r, keysOnly: l.request.KeysOnly}
	err := l.pages(func(p *pgsql.StatesPageParams) ([]pgsql.StatesPageRow, error) { return pager.page(ctx, p) })
	return s.altered(ctx, db, store.TableID(r.id), false, err)
}
