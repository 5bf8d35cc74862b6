package pgstore

// WornRows is how many removed rows make the inbox worth cleaning, at least.
const WornRows = wornRows

// Waiting is how many epochs wait for a lane.
func (s *Store) Waiting() int {
	s.group.lock.Lock()
	defer s.group.lock.Unlock()
	return len(s.group.waiting)
}
