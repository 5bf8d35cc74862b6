package datagen

import (
	"math/bits"
	"math/rand/v2"
)

// random is a generator of numbers (splitmix64). Unlike those of the library it
// is one word, so that each row can have its own.
type random uint64

// ofRow returns the generator of a row.
func ofRow(seed int64, number uint64) random {
	r := random(number)
	r = random(uint64(seed) ^ r.Uint64())
	return random(r.Uint64())
}

// Uint64 returns the next number. It makes random a [rand.Source].
func (r *random) Uint64() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number below n. Its bias, one in 2^64/n, does not show.
func (r *random) below(n uint64) uint64 {
	high, _ := bits.Mul64(r.Uint64(), n)
	return high
}

// upTo returns a number up to n.
func (r *random) upTo(n uint64) uint64 {
	if n+1 == 0 {
		return r.Uint64()
	}
	return r.below(n + 1)
}

// unit returns a number from 0 to below 1.
func (r *random) unit() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// keys draws the keys of rows. It belongs to one reader.
type keys struct {
	count uint64
	zipf  *rand.Zipf // nil: uniform
	from  *random    // what zipf draws from
}

func newKeys(k Keys) *keys {
	out := &keys{count: uint64(k.Count), from: new(random)}
	if k.Distribution == zipf {
		out.zipf = rand.NewZipf(rand.New(out.from), k.S, k.V, out.count-1)
	}
	return out
}

// draw returns the key of a row.
func (k *keys) draw(r *random) uint64 {
	if k.zipf == nil {
		return r.below(k.count)
	}
	*k.from = *r
	key := k.zipf.Uint64()
	*r = *k.from
	return min(key, k.count-1) // it rounds, where there are more keys than doubles
}

// block is text that payloads are pieces of, made when it is needed. It has many
// more places than a payload has bytes, and so many different payloads.
type block struct {
	seed    int64
	payload int
	text    string
}

func (b *block) get() string {
	const (
		letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
		places  = 1 << 20
	)
	if b.text != "" {
		return b.text
	}
	text := make([]byte, b.payload+places)
	r := ofRow(b.seed, ^uint64(0))
	for i := range text {
		text[i] = letters[r.Uint64()>>58]
	}
	b.text = string(text)
	return b.text
}
