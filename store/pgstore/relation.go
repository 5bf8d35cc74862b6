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

// relation is a table of a user's own as it was found. It does not change; one that
// was altered is found anew.
type relation struct {
	id      int64    // of the adopted table
	at      []string // its schema and its own name
	name    string   // for people
	quoted  string
	form    *schema.Table
	columns []column // of the schema, in its order
	plain   []int    // those of the key that are not computed: what rows are found by
	bare    []string // columns beside the schema that a new row must have and nothing fills
	unfound error    // that there is no index to find rows by
	lacks   []error  // what else is missing to read it
	denied  []string // the rights that are missing
	me      string   // whose rights they are
	sql     statements
}

// refusal is an error about the table.
func (r *relation) refusal(err error) error {
	return fmt.Errorf("table %s: %w: %w", r.name, store.ErrRefused, err)
}

// may tells why the table cannot be read, or written.
func (r *relation) may(write bool) error {
	errs := append([]error{r.unfound}, r.lacks...)
	denied := r.denied
	if !write {
		denied = slices.DeleteFunc(slices.Clone(denied), func(right string) bool { return right != "SELECT" })
	}
	if len(denied) > 0 {
		rights := strings.Join(denied, ", ")
		errs = append(errs, fmt.Errorf("user %s may not %s: GRANT %s ON %s TO %s", r.me, rights, rights, r.quoted, pgx.Identifier{r.me}.Sanitize()))
	}
	if err := errors.Join(errs...); err != nil {
		return r.refusal(err)
	}
	return nil
}

// doubts tells what may keep rows from being written, and does not have to: a trigger may
// fill the columns, or no row may ever be made.
func (r *relation) doubts() (out []string) {
	for _, name := range r.bare {
		out = append(out, fmt.Sprintf("column %s is not null, has no default and is not in the schema, so that no row can be made unless a trigger fills it: ALTER TABLE %s ALTER COLUMN %s SET DEFAULT …, or name it in the schema",
			name, r.quoted, pgx.Identifier{name}.Sanitize()))
	}
	return out
}

// finder looks a user's table up.
type finder struct {
	sql  *pgsql.Queries
	db   pgsql.DBTX
	name []string // schema and table
	form *schema.Table

	relation *relation
	columns  []pgsql.RelationColumnsRow
	numbers  []int16 // of the form's columns
}

// find looks the table up: one that is not there, or whose columns do not fit, is an
// error; what else is missing is told by relation.may.
func (f *finder) find(ctx context.Context) (*relation, error) {
	f.relation = &relation{at: f.name, name: strings.Join(f.name, "."), quoted: pgx.Identifier(f.name).Sanitize(), form: f.form}
	about, err := f.sql.Relation(ctx, f.db, &pgsql.RelationParams{Schema: f.name[0], Name: f.name[1]})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, &callersError{fmt.Errorf("%w: the database has no table %s: make it, or drop the table that stands for it with rondo table drop", store.ErrNoTable, f.relation.name)}
	}
	if err != nil {
		return nil, err
	}
	if err := f.kind(&about); err != nil {
		return nil, &callersError{f.relation.refusal(err)}
	}
	if f.columns, err = f.sql.RelationColumns(ctx, f.db, about.ID); err != nil {
		return nil, err
	}
	if err := f.fit(); err != nil {
		return nil, &callersError{f.relation.refusal(err)}
	}
	indexes, err := f.sql.RelationIndexes(ctx, f.db, about.ID)
	if err != nil {
		return nil, err
	}
	f.indexed(indexes)
	f.rights(&about)
	f.relation.sql = statementsOf(f.relation)
	return f.relation, nil
}

// kind refuses what is no ordinary table.
func (f *finder) kind(about *pgsql.RelationRow) error {
	switch {
	case about.Kind == "p":
		return errors.New("it is partitioned: name one of its partitions, or move the rows into a plain table")
	case about.Kind == "rules":
		return errors.New("it has rules, which may write something else than they are told: use triggers")
	case about.Kind == "parent":
		return errors.New("other tables inherit from it, whose rows it would show without keeping their keys unique: name one of them, or end that with ALTER TABLE … NO INHERIT")
	case about.Kind != "r":
		return errors.New("it is no table: rows are locked and compared, which views and foreign tables do not let")
	case about.RowSecurity:
		return fmt.Errorf("row level security hides rows from user %s, and what is hidden would read as absent: let the user bypass it", about.Me)
	case about.Encoding != "UTF8":
		return fmt.Errorf("the database has the encoding %s, in which texts are sorted otherwise than keys: use one with UTF8", about.Encoding)
	}
	return nil
}

// fit matches the columns of the schema with those of the table.
func (f *finder) fit() error {
	var errs []error
	r := f.relation
	for _, c := range f.form.Columns().Columns() {
		i := slices.IndexFunc(f.columns, func(is pgsql.RelationColumnsRow) bool { return is.Name == c.Name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("it has no column %s, which the schema has: add it, or leave it out of the schema", c.Name))
			continue
		}
		is := &f.columns[i]
		fits, err := columnOf(c, is)
		errs = append(errs, err)
		if c.SortOrder != "" && !is.Required {
			r.lacks = append(r.lacks, fmt.Errorf("column %s may be null, and is part of the key%s: ALTER TABLE %s ALTER COLUMN %s SET NOT NULL",
				c.Name, filled(c), r.quoted, fits.quoted))
		}
		if c.SortOrder != "" && c.Expression == "" {
			r.plain = append(r.plain, len(r.columns))
		}
		r.columns = append(r.columns, fits)
		f.numbers = append(f.numbers, int16(is.Number))
	}
	for i := range f.columns {
		if is := &f.columns[i]; is.Required && !is.Filled && !slices.Contains(f.numbers, int16(is.Number)) {
			r.bare = append(r.bare, is.Name)
		}
	}
	if len(r.plain) == 0 {
		errs = append(errs, errors.New("all columns of its key are computed: rows need one to be found by"))
	}
	return errors.Join(errs...)
}

func filled(c schema.Column) string {
	if c.Expression == "" {
		return ""
	}
	return " (rondo table rehash fills it)"
}

// indexed makes sure that rows are found by their key, and in order of it.
func (f *finder) indexed(indexes []pgsql.RelationIndexesRow) {
	r := f.relation
	var found []int16
	var names []string
	for _, i := range r.plain {
		found, names = append(found, f.numbers[i]), append(names, r.columns[i].quoted)
	}
	slices.Sort(found)
	if !slices.ContainsFunc(indexes, func(i pgsql.RelationIndexesRow) bool {
		columns := slices.Sorted(slices.Values(i.Columns))
		return i.KeepsUnique && slices.Equal(columns, found)
	}) {
		key := strings.Join(names, ", ")
		r.unfound = fmt.Errorf("it has no primary key or unique index of (%s), by which rows are found: CREATE UNIQUE INDEX ON %s (%s)", key, r.quoted, key)
	}
	if !slices.ContainsFunc(indexes, func(i pgsql.RelationIndexesRow) bool { return len(i.Columns) > 0 && i.Columns[0] == f.numbers[0] }) {
		r.lacks = append(r.lacks, fmt.Errorf("it has no index that begins with column %s, by which it is scanned: CREATE INDEX ON %s (%s)", r.columns[0].Name, r.quoted, r.columns[0].quoted))
	}
}

func (f *finder) rights(about *pgsql.RelationRow) {
	f.relation.me = about.Me
	for _, right := range []struct {
		name string
		has  bool
	}{{"SELECT", about.MaySelect && about.MayUse}, {"INSERT", about.MayInsert}, {"UPDATE", about.MayUpdate}, {"DELETE", about.MayDelete}} {
		if !right.has {
			f.relation.denied = append(f.relation.denied, right.name)
		}
	}
	if !about.MayUse {
		f.relation.lacks = append(f.relation.lacks, fmt.Errorf("user %s may not use the schema: GRANT USAGE ON SCHEMA %s TO %s", about.Me, pgx.Identifier{f.name[0]}.Sanitize(), pgx.Identifier{about.Me}.Sanitize()))
	}
}

// row makes the key and the value of a row that was read; no value if only the
// columns of the key were. A hash that is none of its key is an error with both
// values.
func (r *relation) row(targets []any) (key string, value []byte, err error) {
	row := make(schema.Row, len(r.columns))
	var errs []error
	for i := range targets {
		v, err := r.columns[i].value(targets[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("column %s: %w", r.columns[i].Name, err))
		}
		row[i] = v
	}
	stored := slices.Clone(row)
	for i := range r.columns {
		if r.columns[i].Expression != "" {
			row[i] = schema.Null()
		}
	}
	switch err = errors.Join(errs...); {
	case err != nil:
	case len(targets) == len(r.columns):
		key, value, err = r.form.Encode(row)
	default:
		key, err = r.keyOf(row)
		value = []byte{}
	}
	if err == nil {
		err = r.hashed(stored, row)
	}
	if err != nil {
		err = &callersError{r.refusal(fmt.Errorf("row %s: %w", r.keyText(stored), err))}
	}
	return key, value, err
}

// keyOf completes a row of which only the key is known.
func (r *relation) keyOf(row schema.Row) (string, error) {
	for _, i := range r.plain {
		if row[i].IsNull() {
			return "", fmt.Errorf("column %s is part of the key, and null: give it a value", r.columns[i].Name)
		}
	}
	err := r.form.Complete(row)
	return string(schema.AppendKey(nil, row[:r.form.Key().Len()]...)), err
}

func (r *relation) hashed(stored, computed schema.Row) error {
	for i := range r.columns {
		if c := &r.columns[i]; c.Expression != "" && stored[i] != computed[i] {
			return fmt.Errorf("column %s is %s, and %s gives %s: rondo table rehash puts it right", c.Name, stored[i], c.Expression, computed[i])
		}
	}
	return nil
}

// keyText names a row by what it is found by.
func (r *relation) keyText(row schema.Row) string {
	parts := make([]string, len(r.plain))
	for n, i := range r.plain {
		parts[n] = fmt.Sprintf("%s=%s", r.columns[i].Name, row[i])
	}
	return strings.Join(parts, " ")
}

// keyTextOf is keyText of an encoded key.
func (r *relation) keyTextOf(key string) string {
	row, err := schema.DecodeKey(key)
	if err != nil || len(row) < r.form.Key().Len() {
		return fmt.Sprintf("%x", key)
	}
	return r.keyText(row)
}

func (r *relation) targets() []any {
	out := make([]any, len(r.columns))
	for i := range r.columns {
		out[i] = r.columns[i].target()
	}
	return out
}

// keyTargets are those of the columns of the key.
func (r *relation) keyTargets() []any { return r.targets()[:r.form.Key().Len()] }
