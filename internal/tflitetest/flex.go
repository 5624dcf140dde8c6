package tflitetest

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Flex is a FlexBuffers map of whole numbers, width bytes each (1, 2, 4 or 8).
func Flex(options map[string]int, width int) []byte {
	keys := slices.Sorted(maps.Keys(options))
	var b []byte
	num := func(v int) {
		b = append(b, binary.LittleEndian.AppendUint64(nil, uint64(v))[:width]...)
	}
	back := func(to int) { num(len(b) - to) }
	var at []int
	for _, k := range keys {
		at = append(at, len(b))
		b = append(append(b, k...), 0)
	}
	for len(b)%width != 0 {
		b = append(b, 0)
	}
	num(len(keys)) // the vector of keys
	vector := len(b)
	for _, pos := range at {
		back(pos)
	}
	bits := map[int]byte{1: 0, 2: 1, 4: 2, 8: 3}[width]
	back(vector)
	num(width)
	num(len(keys))
	values := len(b)
	for _, k := range keys {
		num(options[k])
	}
	for range keys {
		b = append(b, 1<<2|bits) // a signed number
	}
	for len(b)%width != 0 {
		b = append(b, 0)
	}
	back(values)
	return append(b, 9<<2|bits, byte(width)) // a map
}
