package pgstore

// Waiting is how many epochs wait for a lane.
func (s *Store) Waiting() int {
	s.group.lock.Lock()
	defer s.group.lock.Unlock()
	return len(s.group.waiting)
}
