//go:build amd64 || arm64 || arm || riscv64

package costmodel

import "unsafe"

// margins returns a copy of the booster's own predictions. The library owns the original and overwrites it.
func (s *session) margins(m uintptr) []float32 {
	var n uint64
	var p unsafe.Pointer
	const margin = 1
	if s.err != nil || !s.check("prediction", s.predict(s.booster, m, margin, 0, 0, &n, &p)) {
		return nil
	}
	return append([]float32(nil), unsafe.Slice((*float32)(p), n)...)
}
