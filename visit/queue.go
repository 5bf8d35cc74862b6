package visit

// queue is a first-in, first-out list that reuses its memory.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) len() int    { return len(q.items) - q.head }
func (q *queue[T]) at(i int) *T { return &q.items[q.head+i] }
func (q *queue[T]) last() *T    { return &q.items[len(q.items)-1] }
func (q *queue[T]) push(item T) { q.items = append(q.items, item) }
func (q *queue[T]) dropLast()   { q.items = q.items[:len(q.items)-1] }
func (q *queue[T]) live() []T   { return q.items[q.head:] }

// pop drops the first item. The space before the head is reclaimed once it is
// the larger half, so a pop costs constant time on average.
func (q *queue[T]) pop() {
	var zero T
	q.items[q.head] = zero
	q.head++
	if q.head*2 >= len(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
}

// clear drops all items.
func (q *queue[T]) clear() {
	clear(q.items)
	q.items, q.head = q.items[:0], 0
}
