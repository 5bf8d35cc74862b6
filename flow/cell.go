package flow

// Cell is one state of one key during an epoch. All inputs of the key in the
// epoch share it, so that each sees what the former ones wrote (KV-29); its
// content is stored once, when the epoch ends. An empty value is the absence of
// the state.
//
// Neither bytes nor decoded values are changed in place once a cell has them,
// only replaced: a copy of a Cell is a snapshot that it can be set back to.
type Cell struct {
	raw    []byte
	value  any
	encode func(any) ([]byte, error)
	dirty  bool
}

// NewCell returns a cell that holds stored bytes, nil for an absent state.
func NewCell(stored []byte) *Cell { return &Cell{raw: stored} }

// Bytes returns the present value; empty when there is none. The bytes must not
// be changed.
func (c *Cell) Bytes() ([]byte, error) {
	if err := c.settle(); err != nil {
		return nil, err
	}
	return c.raw, nil
}

// SetBytes replaces the value; empty removes the state.
func (c *Cell) SetBytes(b []byte) {
	c.raw, c.value, c.encode, c.dirty = b, nil, nil, true
}

// Value returns the decoded value that a former input of the epoch left, if it
// is of a form that v's owner put there.
func (c *Cell) Value() any { return c.value }

// SetValue replaces the value by v, which encode turns into bytes when the
// epoch ends or somebody asks for them.
func (c *Cell) SetValue(v any, encode func(any) ([]byte, error)) {
	c.value, c.encode, c.dirty = v, encode, true
}

// Remember keeps the decoded form of the unchanged value, so that the next
// input need not decode it again.
func (c *Cell) Remember(v any) {
	if c.encode == nil {
		c.value = v
	}
}

// Changed tells whether anything was set, and settles the bytes to store.
func (c *Cell) Changed() (value []byte, changed bool, err error) {
	if !c.dirty {
		return nil, false, nil
	}
	err = c.settle()
	return c.raw, true, err
}

func (c *Cell) settle() error {
	if c.encode == nil {
		return nil
	}
	b, err := c.encode(c.value)
	if err != nil {
		return err
	}
	c.raw, c.encode = b, nil
	return nil
}
