package runner

import (
	"slices"

	"ripc/measure"
)

// store keeps blobs up to a total size; those that were unused for longest go first.
type store struct {
	limit, size int64
	items       map[string][]byte
	order       []string // hashes, the last used one behind
}

func newStore(limit int64) *store { return &store{limit: limit, items: map[string][]byte{}} }

// storeLimit is how much a worker keeps: boards have little memory.
func storeLimit() int64 {
	if memory := measure.Memory(); memory > 0 {
		return min(memory/8, 256<<20)
	}
	return 32 << 20
}

// get returns a blob, if it is here.
func (s *store) get(hash string) ([]byte, bool) {
	content, ok := s.items[hash]
	if ok {
		s.order = append(slices.DeleteFunc(s.order, func(h string) bool { return h == hash }), hash)
	}
	return content, ok
}

// put keeps a blob, in the place of others if there is no room.
func (s *store) put(hash string, content []byte) {
	if _, ok := s.items[hash]; ok || int64(len(content)) > s.limit {
		return
	}
	s.items[hash], s.order, s.size = content, append(s.order, hash), s.size+int64(len(content))
	for ; s.size > s.limit; s.order = s.order[1:] {
		s.size -= int64(len(s.items[s.order[0]]))
		delete(s.items, s.order[0])
	}
}
