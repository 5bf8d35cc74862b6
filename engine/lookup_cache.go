package engine

import (
	"container/list"
	"time"
)

// rowCache remembers rows that were looked up, absent ones too, for a while and as far
// as they fit. It belongs to one job.
type rowCache struct {
	ttl   time.Duration
	most  int
	bytes int
	rows  map[string]*list.Element
	used  *list.List // of *cachedRow, the one used last in front
}

type cachedRow struct {
	key   string
	value []byte
	until time.Duration
}

// cachedRowOverhead is about what a row takes beside its key and value.
const cachedRowOverhead = 160

func (r *cachedRow) size() int { return len(r.key) + len(r.value) + cachedRowOverhead }

func newRowCache() rowCache {
	return rowCache{rows: map[string]*list.Element{}, used: list.New()}
}

// limit changes what the cache may do; what it has keeps its time.
func (c *rowCache) limit(ttl time.Duration, most int) {
	c.ttl, c.most = ttl, most
	if ttl == 0 {
		c.most = 0
	}
	c.trim()
}

func (c *rowCache) get(key string, now time.Duration) (value []byte, ok bool) {
	at := c.rows[key]
	if at == nil {
		return nil, false
	}
	row := at.Value.(*cachedRow)
	if now >= row.until {
		c.remove(at)
		return nil, false
	}
	c.used.MoveToFront(at)
	return row.value, true
}

func (c *rowCache) put(key string, value []byte, now time.Duration) {
	if c.ttl == 0 {
		return
	}
	if at := c.rows[key]; at != nil {
		c.remove(at)
	}
	row := &cachedRow{key, value, now + c.ttl}
	c.rows[key] = c.used.PushFront(row)
	c.bytes += row.size()
	c.trim()
}

// trim forgets the rows that were used longest ago, until the others fit.
func (c *rowCache) trim() {
	for c.bytes > c.most {
		c.remove(c.used.Back())
	}
}

func (c *rowCache) remove(at *list.Element) {
	row := c.used.Remove(at).(*cachedRow)
	delete(c.rows, row.key)
	c.bytes -= row.size()
}
