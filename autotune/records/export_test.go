package records

import "time"

// SetWait changes how long f waits for other processes.
func (f *File) SetWait(d time.Duration) { f.wait = d }

// Best is the cheapest candidate of a task in the class to trust most.
func (s *Set) Best(t Task) (best Record, ok bool) {
	for _, c := range s.Classes(t) {
		if ranked := s.Ranked(t, c); len(ranked) > 0 {
			return ranked[0], true
		}
	}
	return Record{}, false
}
