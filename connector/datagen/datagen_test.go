package datagen

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/rondo-flow/rondo/connector"
	"github.com/rondo-flow/rondo/connector/connectortest"
	"github.com/rondo-flow/rondo/flow"
	"github.com/rondo-flow/rondo/flowtest"
	"github.com/rondo-flow/rondo/yson"
	"pgregory.net/rapid"
)

func newSource(t testing.TB, params string, columns ...string) (connector.Source, error) {
	t.Helper()
	node, err := yson.Parse([]byte("{"+params+"}"), yson.YSON)
	if err != nil {
		t.Fatal(err)
	}
	return NewSource(connector.Setup{Parameters: flow.NewParameters(node, "p"), Schema: flowtest.Schema(t, columns...)})
}

// mustSource is newSource of parameters that are right.
func mustSource(t testing.TB, params string, columns ...string) connector.Source {
	t.Helper()
	src, err := newSource(t, params, columns...)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func open(t testing.TB, src connector.Source, partition string) connector.Reader {
	t.Helper()
	r, err := src.Open(t.Context(), partition, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

var everyColumn = []string{"k uint64 required", "n int64", "d double", "f float", "b boolean", "s string", "w utf8", "a any", "at timestamp", "i8 int8"}

func TestDatagenKeepsTheContract(t *testing.T) {
	for _, params := range []string{
		"count=100", "count=100; partitions=3", "count=2; partitions=5", "count=30; keys={distribution=zipf}; payload_size=0", "count=50; rate=1000000",
	} {
		t.Run(params, func(t *testing.T) {
			src := mustSource(t, params+"; finite=%true; columns={n={kind=sequence}}", everyColumn...)
			var numbers []int64
			for _, rows := range connectortest.Source(t, src, flowtest.Schema(t, everyColumn...)) {
				for _, row := range rows {
					numbers = append(numbers, row[1].AsInt64())
				}
			}
			slices.Sort(numbers)
			for i, n := range numbers {
				if n != int64(i) {
					t.Fatalf("row %d of all partitions is number %d", i, n)
				}
			}
			if want := strings.Split(strings.TrimPrefix(params, "count="), ";")[0]; fmt.Sprint(len(numbers)) != want {
				t.Errorf("%d rows, want %s", len(numbers), want)
			}
		})
	}
}

// TestColumnTranscript: columns, a blank line and parameters; it prints the first
// rows, or what is wrong.
func TestColumnTranscript(t *testing.T) {
	datadriven.RunTest(t, "testdata/columns", func(t *testing.T, td *datadriven.TestData) string {
		columns, params, _ := strings.Cut(td.Input, "\n\n")
		src, err := newSource(t, params, strings.Split(columns, "\n")...)
		if err != nil {
			return err.Error() + "\n"
		}
		b, err := open(t, src, "0").Read(t.Context(), connector.Limit{Rows: 4, Bytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, row := range b.Rows {
			if err := flowtest.Schema(t, strings.Split(columns, "\n")...).Check(row); err != nil {
				t.Errorf("%s: %v", td.Pos, err)
			}
			fmt.Fprintln(&out, row)
		}
		return out.String()
	})
}

func TestTheSeedChangesWhatIsRandom(t *testing.T) {
	read := func(seed int) string {
		src := mustSource(t, fmt.Sprintf("count=10; finite=%%true; seed=%d", seed), "k uint64", "s string", "d double")
		b, err := open(t, src, "0").Read(t.Context(), connector.Limit{Rows: 100, Bytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(b.Rows)
	}
	if first, again := read(1), read(1); first != again {
		t.Error("the same seed gives other rows")
	}
	if read(1) == read(2) || read(0) == read(-1) {
		t.Error("another seed gives the same rows")
	}
}

// frequencies counts the keys of many rows.
func frequencies(t *testing.T, keys string, rows int) []float64 {
	r := open(t, mustSource(t, "keys="+keys, "k uint64"), "0")
	count := make([]float64, 100)
	for n := 0; n < rows; {
		b, err := r.Read(t.Context(), connector.Limit{Rows: 1000, Bytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range b.Rows {
			count[row[0].AsUint64()]++
		}
		n += len(b.Rows)
	}
	return count
}

// The rows are always the same, so these tests pass always or never.
func TestUniformKeysAreEquallyFrequent(t *testing.T) {
	const rows = 1e5
	for key, n := range frequencies(t, "{count=100}", rows) {
		if math.Abs(n-rows/100) > 5*math.Sqrt(rows/100) {
			t.Errorf("key %d comes %v times of %v", key, n, rows)
		}
	}
}

func TestZipfKeysFollowItsLaw(t *testing.T) {
	const rows = 1e5
	for _, c := range []struct{ s, v float64 }{{1.5, 2}, {1.001, 1}, {1.001, 1e9}, {10, 100}, {10, 1e9}} {
		sum := 0.0
		law := func(k int) float64 { return math.Pow(1+float64(k)/c.v, -c.s) }
		for k := range 100 {
			sum += law(k)
		}
		keys := fmt.Sprintf("{count=100; distribution=zipf; s=%g; v=%g}", c.s, c.v)
		for key, n := range frequencies(t, keys, rows) {
			if want := rows * law(key) / sum; math.Abs(n-want) > 5*math.Sqrt(want)+1 {
				t.Errorf("%s: key %d comes %v times, want about %.0f", keys, key, n, want)
			}
		}
	}
}

// TestZipfKeysStayBelowTheirNumber: also where doubles do not tell two keys apart.
func TestZipfKeysStayBelowTheirNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Keys{
			Distribution: zipf, Count: rapid.Int64Range(1, math.MaxInt64).Draw(t, "count"),
			S: rapid.Float64Range(1.001, 10).Draw(t, "s"), V: rapid.Float64Range(1, 1e9).Draw(t, "v"),
		}
		from, r := newKeys(k), random(rapid.Uint64().Draw(t, "seed"))
		for range 100 {
			if key := from.draw(&r); key >= uint64(k.Count) {
				t.Fatalf("key %d of %d", key, k.Count)
			}
		}
	})
}

func TestPayloadsHaveTheirSizeAndDiffer(t *testing.T) {
	r := open(t, mustSource(t, "payload_size=1000", "k uint64", "s string", "w utf8"), "0")
	b, err := r.Read(t.Context(), connector.Limit{Rows: 500, Bytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range b.Rows {
		for _, v := range row[1:] {
			if len(v.AsString()) != 1000 {
				t.Fatalf("a payload of %d bytes", len(v.AsString()))
			}
			seen[v.AsString()] = true
		}
	}
	if len(seen) < 2*len(b.Rows)-3 {
		t.Errorf("%d different payloads of %d", len(seen), 2*len(b.Rows))
	}
	if want := len(b.Rows) * (2000 + 3*valueSize); b.Bytes != want {
		t.Errorf("the batch has %d bytes, want %d", b.Bytes, want)
	}
}

func TestOffsetsThatMakeNoSenseAreErrors(t *testing.T) {
	src := mustSource(t, "count=7; finite=%true; partitions=2", "k uint64")
	for offset, want := range map[string]string{
		`7`:                             `stored position "7" cannot be read`,
		`{"rows":-1}`:                   `stored position "{\"rows\":-1}" cannot be read`,
		`{"rows":4}`:                    `4 rows of partition 1 were read, and it has 3 now: set count back, or start over with an empty data folder`,
		`{"rows":18446744073709551615}`: `stored position is behind every row`,
	} {
		_, err := src.Open(t.Context(), "1", []byte(offset))
		if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, connector.ErrMalformed) {
			t.Errorf("%s: error %v, want it to begin with %s", offset, err, want)
		}
	}
	for _, partition := range []string{"2", "-1", "", "x"} {
		if _, err := src.Open(t.Context(), partition, nil); err == nil {
			t.Errorf("opened partition %q", partition)
		}
	}
}

func TestRegisterAddsTheSource(t *testing.T) {
	var r connector.Registry
	if err := Register(&r); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Source("datagen"); !ok {
		t.Error("no source")
	}
}
