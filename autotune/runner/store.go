package runner

import (
	"container/list"

	"ripc/measure"
)

// store keeps blobs up to a total size; those that were unused for longest go first.
type store struct {
	limit, size int64
	items       map[string]*list.Element
	order       *list.List // of stored, the last used in front
}

type stored struct {
	hash    string
	content []byte
}

func newStore(limit int64) *store {
	return &store{limit: limit, items: map[string]*list.Element{}, order: list.New()}
}

// storeLimit is how much a worker keeps: boards have little memory.
func storeLimit() int64 {
	if memory := measure.Memory(); memory > 0 {
		return min(memory/8, 256<<20)
	}
	return 32 << 20
}

// get returns a blob, if it is here.
func (s *store) get(hash string) ([]byte, bool) {
	e, ok := s.items[hash]
	if !ok {
		return nil, false
	}
	s.order.MoveToFront(e)
	return e.Value.(stored).content, true
}

// put keeps a blob, in the place of others if there is no room.
func (s *store) put(hash string, content []byte) {
	if _, ok := s.items[hash]; ok || int64(len(content)) > s.limit {
		return
	}
	s.items[hash] = s.order.PushFront(stored{hash, content})
	s.size += int64(len(content))
	for s.size > s.limit {
		last := s.order.Back()
		old := s.order.Remove(last).(stored)
		delete(s.items, old.hash)
		s.size -= int64(len(old.content))
	}
}
