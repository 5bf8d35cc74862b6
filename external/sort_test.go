package external

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/rondo-flow/rondo/schema"
	"pgregory.net/rapid"
)

// TestSortIsTheSameInAnyMemory sorts in memory that holds all rows, and in so
// little that pieces are merged more than once.
func TestSortIsTheSameInAnyMemory(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	var b strings.Builder
	b.WriteString("name,value\n")
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 60_000 {
		fmt.Fprintf(&b, "k%d,%x\n", i, rng.Uint64())
	}
	write(t, in, b.String())
	var first []byte
	for _, memory := range []int64{256 << 20, MinSortMemory} {
		out := filepath.Join(dir, "out.csv")
		res, err := Sort(context.Background(), SortOptions{In: in, Out: out, Key: "hash=farm_hash(name),name", Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		if res.Rows != 60_000 || (res.Runs > 2) != (memory == MinSortMemory) {
			t.Fatalf("%d rows in %d runs", res.Rows, res.Runs)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		} else if string(first) != string(data) {
			t.Error("the outcome depends on the memory")
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}

// TestMergesAgreeWithSorting merges runs of random lengths.
func TestMergesAgreeWithSorting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		rows := map[string]int64{}
		for _, k := range rapid.SliceOfN(rapid.StringMatching(`[a-c]{1,6}`), 1, 200).Draw(rt, "keys") {
			rows[k] = int64(len(rows))
		}
		s := &sorter{options: &SortOptions{Memory: rapid.SampledFrom([]int64{0, 10 << 20}).Draw(rt, "memory")}, dir: dir, memory: newMemory(1 << 30)}
		number := int64(0)
		for k, v := range rows {
			number++
			s.memory.add(k, number, schema.Row{schema.Int64(v)})
			if rapid.IntRange(0, 9).Draw(rt, "spill") == 0 {
				if err := s.spill(); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if err := s.spill(); err != nil {
			rt.Fatal(err)
		}
		if err := s.narrow(context.Background()); err != nil {
			rt.Fatal(err)
		}
		m, err := s.merged()
		if err != nil {
			rt.Fatal(err)
		}
		got, last := map[string]int64{}, ""
		for {
			r, err := m.next()
			if err != nil {
				break
			}
			row, _, err := schema.DecodeRow(r.row, nil)
			if err != nil || string(r.key) <= last {
				rt.Fatal(err, string(r.key), last)
			}
			last = string(r.key)
			got[last] = row[0].AsInt64()
		}
		if err := m.close(); err != nil || !maps.Equal(got, rows) {
			rt.Fatal(err, len(got), len(rows))
		}
	})
}

// TestLongValuesAreWrittenOnce: statistics that hold whole values would make the file
// many times as long, and unreadable.
func TestLongValuesAreWrittenOnce(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.parquet")
	var b strings.Builder
	b.WriteString("name,value\n")
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 5 {
		fmt.Fprintf(&b, "k%d,", i)
		for range 50_000 {
			fmt.Fprintf(&b, "%016x", rng.Uint64())
		}
		b.WriteString("\n")
	}
	write(t, in, b.String())
	if _, err := Sort(context.Background(), SortOptions{In: in, Out: out, Key: "hash=farm_hash(name),name", Memory: 256 << 20}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(out)
	if err != nil || info.Size() > int64(b.Len())*5/4 {
		t.Fatalf("%d bytes of a text of %d, %v", info.Size(), b.Len(), err)
	}
}

func TestSortRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, key, want string }{
		{"a.csv", "name,v\na,1\nb,2\na,3\n", "hash=farm_hash(name),name", `rows 1 and 3 of`},
		{"b.csv", "name,v\na,1\n,2\n", "hash=farm_hash(name),name", "row 2 (line 3): column name: in the key: null in a required column"},
		{"c.csv", "name,v\na,1\n", "hash=farm_hash(nam),nam", "there is no column nam in the table: did you mean name?"},
		{"d.csv", "name,v\na,1\n", "name", "the first column must be uint64, the hash that ranges are cut by, and name is utf8: put hash=farm_hash(name) before it"},
		{"j.csv", "name,v\na,1\n", "hash=,name", `"hash=" names no column, or gives it no expression`},
		{"e.csv", "name,v\na,1\nb\n", "hash=farm_hash(name),name", "row 2 (line 3)"},
		{"f.jsonl", "{\"name\":\"a\",\"v\":null}\n", "hash=farm_hash(name),name", "column v: it is null in every row: say which type it is with --type"},
		{"g.jsonl", "{\"name\":\"a\"}\n[1]\n", "hash=farm_hash(name),name", "line 2: a row has to be a JSON object"},
		{"h.txt", "", "a", "the format of a table is told by the end of its name"},
		{"i.parquet", "PAR1", "a", "it cannot be read as Parquet"},
	} {
		in, out := filepath.Join(dir, c.name), filepath.Join(dir, "out.parquet")
		write(t, in, c.text)
		_, err := Sort(context.Background(), SortOptions{In: in, Out: out, Key: c.key, Memory: MinSortMemory})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.name, err, c.want)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: something was written", c.name)
		}
	}
}

// TestTypesAreFound reads JSON Lines.
func TestTypesAreFound(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.jsonl")
	write(t, in, `{"name":"a","i":1,"d":1,"u":18446744073709551615,"b":true,"x":1,"s":{"$base64":"/w=="},"o":null}`+"\n"+
		`{"name":"b","i":-1,"d":0.5,"u":1,"b":null,"x":"1","s":"t","o":{"a":[1]},"late":"v"}`+"\n")
	res, err := Sort(context.Background(), SortOptions{In: in, Out: in + ".parquet", Key: "hash=farm_hash(name),name", Memory: MinSortMemory})
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range res.Columns.Columns() {
		got += " " + c.Name + ":" + c.Type.String()
	}
	if want := " hash:uint64 name:utf8 i:int64 d:double u:uint64 b:boolean x:any s:string o:any late:utf8"; got != want {
		t.Errorf("got %s\nwant%s", got, want)
	}
}

var rowsFlag = flag.Int("sort.rows", 0, "rows to sort in TestSortOfManyRows, such as 10000000")

// TestSortOfManyRows sorts within a limit of memory; by default few rows.
func TestSortOfManyRows(t *testing.T) {
	n := *rowsFlag
	if n == 0 {
		n = 200_000
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.csv")
	f, err := os.Create(in)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	fmt.Fprintln(f, "name,a")
	buf := make([]byte, 0, 64)
	w := func(i int) {
		buf = fmt.Appendf(buf[:0], "k%d,%x\n", i, rng.Uint64())
		if _, err := f.Write(buf); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		w(i)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	debug.SetMemoryLimit(512 << 20)
	defer debug.SetMemoryLimit(-1)
	began := time.Now()
	most := uint64(0)
	res, err := Sort(context.Background(), SortOptions{
		In: in, Out: filepath.Join(dir, "out.parquet"), Key: "hash=farm_hash(name),name", Memory: 256 << 20,
		Progress: func(p SortProgress) {
			if p.Read%100_000 == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.Sys-m.HeapReleased)
			}
		},
	})
	if err != nil || res.Rows != int64(n) {
		t.Fatal(res.Rows, err)
	}
	t.Logf("%d rows in %s, %d runs, %d MiB at most", n, time.Since(began).Round(time.Millisecond), res.Runs, most>>20)
	if most > 512<<20 {
		t.Errorf("%d MiB of memory", most>>20)
	}
}

func TestSortNeverRoundsAndNeverWritesOver(t *testing.T) {
	dir := t.TempDir()
	path := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	long := path("long.jsonl", "{\"code\":\"a\",\"n\":9007199254740993}\n{\"code\":\"b\",\"n\":1.5}\n")
	exact := path("exact.jsonl", "{\"code\":\"a\",\"n\":9007199254740992}\n{\"code\":\"b\",\"n\":1.5}\n")
	taken := path("taken.csv", "code,name\na,Ay\n")
	hashed := path("hashed.csv", "hash,code\n1,a\n")
	for _, c := range []struct {
		in, key, want string
		types         map[string]schema.Type
	}{
		{long, "hash=farm_hash(code),code", "column n: it has numbers with a fraction", nil},
		{long, "hash=farm_hash(code),code", "", map[string]schema.Type{"n": schema.TypeDouble}},
		{exact, "hash=farm_hash(code),code", "", nil},
		{taken, "name=farm_hash(code),code", "column name is in the table already, as utf8", nil},
		{taken, "hash=farm_hash(code),code", "--type hash=uint64: the column is computed", map[string]schema.Type{"hash": schema.TypeUint64}},
		{taken, "name=farm_hash(code),code", "--type name=string: the column is computed", map[string]schema.Type{"name": schema.TypeString}},
		{hashed, "hash=farm_hash(code),code", "", map[string]schema.Type{"hash": schema.TypeUint64}},
	} {
		_, err := Sort(t.Context(), SortOptions{In: c.in, Out: filepath.Join(dir, "out.jsonl"), Key: c.key, Types: c.types, Memory: MinSortMemory})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s by %s: got %v, want %q", filepath.Base(c.in), c.key, err, c.want)
		}
	}
}
