package external

import (
	"container/list"
	"io"
	"sync"
	"sync/atomic"
)

// blocks reads a file through a small cache. Neighbouring buckets meet inside a
// block, and small tables fit as a whole: without it they would be read once for
// each bucket.
type blocks struct {
	file io.ReaderAt
	size int64
	read *atomic.Int64 // bytes taken from the file

	mu     sync.Mutex
	byNum  map[int64]*list.Element
	recent *list.List // of *block, the latest first
}

type block struct {
	num  int64
	data []byte
}

const (
	blockSize = 8 << 10
	maxBlocks = 2048
)

func newBlocks(file io.ReaderAt, size int64, read *atomic.Int64) *blocks {
	return &blocks{file: file, size: size, read: read, byNum: map[int64]*list.Element{}, recent: list.New()}
}

// ReadAt implements io.ReaderAt up to the size that the file had when it was
// opened. A file that has become shorter is io.ErrUnexpectedEOF.
func (b *blocks) ReadAt(dst []byte, at int64) (n int, err error) {
	for n < len(dst) {
		if at >= b.size {
			return n, io.EOF
		}
		data, err := b.block(at / blockSize)
		if err != nil {
			return n, err
		}
		c := copy(dst[n:], data[at%blockSize:])
		n, at = n+c, at+int64(c)
	}
	return n, nil
}

func (b *blocks) block(num int64) ([]byte, error) {
	b.mu.Lock()
	e := b.byNum[num]
	if e != nil {
		b.recent.MoveToFront(e)
	}
	b.mu.Unlock()
	if e != nil {
		return e.Value.(*block).data, nil
	}
	data := make([]byte, min(blockSize, b.size-num*blockSize))
	n, err := b.file.ReadAt(data, num*blockSize)
	b.read.Add(int64(n))
	if n < len(data) {
		if err == io.EOF || err == nil {
			err = io.ErrUnexpectedEOF
		}
		return nil, &readError{err}
	}
	b.keep(&block{num, data})
	return data, nil
}

// keep puts a block in place of the one that was not used for longest.
func (b *blocks) keep(k *block) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byNum[k.num] != nil {
		return // another goroutine read it too
	}
	b.byNum[k.num] = b.recent.PushFront(k)
	if b.recent.Len() > maxBlocks {
		oldest := b.recent.Remove(b.recent.Back()).(*block)
		delete(b.byNum, oldest.num)
	}
}
