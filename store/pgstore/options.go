package pgstore

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rondo-flow/rondo/store"
)

// DefaultSchema is the schema that a store lies in unless its options, or the
// parameter rondo_schema of its URL, name another one.
const DefaultSchema = "rondo"

// Options say how a store is opened. Zero values are the defaults.
type Options struct {
	// Schema holds the store's tables. Stores in different schemas of a database
	// have nothing to do with each other. DefaultSchema.
	Schema string
	// Worker is the id of a worker of a cluster, whose store this is: others may
	// have the store open too, and only partitions assigned to the worker get a
	// generation. Up to 50 characters of ASCII. Empty: the store belongs to this process
	// alone.
	Worker string
	// Connections is how many there are at most, 8, beside the one that holds the
	// store for this process.
	Connections int
	// CallTimeout is how long a call waits for the server at most, 1 minute. A
	// commit that takes longer has an unknown outcome.
	CallTimeout time.Duration
	// LockTimeout is how long a statement waits for a row that another transaction
	// holds, 5 seconds. The call is ErrUnavailable then.
	LockTimeout time.Duration
	// Logger gets what nobody else is told. The default discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Connections = cmp.Or(o.Connections, 8)
	o.CallTimeout = cmp.Or(o.CallTimeout, time.Minute)
	o.LockTimeout = cmp.Or(o.LockTimeout, 5*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// from takes what the URL says and the options do not.
func (o Options) from(params map[string]string) (Options, error) {
	o.Schema = cmp.Or(o.Schema, params[schemaParameter], DefaultSchema)
	for name, to := range map[string]*time.Duration{callParameter: &o.CallTimeout, lockParameter: &o.LockTimeout} {
		text, said := params[name]
		d, err := time.ParseDuration(text)
		switch {
		case !said || *to != 0:
		case err != nil || d < time.Millisecond:
			return o, fmt.Errorf("%s=%s in the URL of the store is no duration from 1ms on, such as 30s", name, text)
		default:
			*to = d
		}
	}
	for _, name := range []string{schemaParameter, callParameter, lockParameter} {
		delete(params, name)
	}
	return o.withDefaults(), nil
}

// Options that may stand in the URL. They count unless Options say something.
const (
	schemaParameter = "rondo_schema"
	callParameter   = "rondo_call_timeout" // a duration, as time.ParseDuration reads it
	lockParameter   = "rondo_lock_timeout"
)

// place is a store's server, database and schema, and how it is used.
type place struct {
	config *pgxpool.Config
	schema string
	opts   Options
}

// locate reads a URL. Its errors never show it, since it may hold a password.
func locate(url string, o Options) (*place, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w; it looks like postgres://user@host:5432/database", store.ErrUnavailable, withoutSecrets(err))
	}
	if hosts := config.ConnConfig; strings.Contains(hosts.Host, "@") || slices.ContainsFunc(hosts.Fallbacks, func(f *pgconn.FallbackConfig) bool { return strings.Contains(f.Host, "@") }) {
		return nil, fmt.Errorf("%w: the URL of the store has an @ too many: in a user's name or a password it is written %%40", store.ErrUnavailable)
	}
	params := config.ConnConfig.RuntimeParams
	if o, err = o.from(params); err != nil {
		return nil, err
	}
	p := &place{config, o.Schema, o}
	if strings.ContainsRune(p.schema, 0) || len(p.schema) > 63 {
		return nil, fmt.Errorf("%q is no name of a schema: it has 1 to 63 bytes", p.schema)
	}
	if params["application_name"] == "" {
		host, _ := os.Hostname() // a process without host name is still one
		params["application_name"] = fmt.Sprintf("rondo, process %d on %s", os.Getpid(), host)
	}
	if o.Worker != "" {
		name := sessionName(o.Worker)
		if len(name) > 63 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }) {
			return nil, fmt.Errorf("%q is no id of a worker: it has up to %d letters, digits and signs of ASCII, since the server would change its sessions' names, by which others end them", o.Worker, 63-len(sessionName("")))
		}
		params["application_name"] = name
	}
	config.MaxConns = int32(o.Connections)
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	if t := &config.ConnConfig.ConnectTimeout; *t == 0 || *t > o.CallTimeout {
		*t = o.CallTimeout
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error { return p.settle(ctx, c, o) }
	return p, nil
}

// String names the place without its secrets.
func (p *place) String() string {
	c := p.config.ConnConfig
	return fmt.Sprintf("schema %s of database %s on %s", p.schema, c.Database, c.Host)
}

// settle prepares a session. All statements find their rows by an index, whatever
// the statistics say of a table that was empty a moment ago, and are planned once.
func (p *place) settle(ctx context.Context, c *pgx.Conn, o Options) error {
	settings := [][2]string{
		{"search_path", pgx.Identifier{p.schema}.Sanitize() + ", pg_catalog"},
		{"plan_cache_mode", "force_generic_plan"},
		{"enable_seqscan", "off"},
		{"enable_bitmapscan", "off"},
		{"enable_hashjoin", "off"},
		{"enable_mergejoin", "off"},
		{"enable_material", "off"},
		{"jit", "off"},
		{"synchronous_commit", "on"},
		{"default_transaction_isolation", "read committed"},
		{"lock_timeout", millis(o.LockTimeout)},
		{"statement_timeout", millis(o.CallTimeout)},
		{"idle_in_transaction_session_timeout", millis(o.CallTimeout)},
	}
	var names, values []string
	for _, s := range settings {
		names, values = append(names, s[0]), append(values, s[1])
	}
	const set = `SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) s (name, value)`
	_, err := c.Exec(ctx, set, names, values)
	return err
}

func millis(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }
