// Package memory bounds the memory of large networks: weights are most of it, and each copy counts.
package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// large is the size of a heap, in bytes, from which on garbage is looked for between two stages.
const large = 16 << 20

// Trim is Collect within a stage that leaves much garbage, such as a search. Where memory is large,
// garbage stays below a share of it.
func Trim() {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if all, live := s[0].Value.Uint64(), s[1].Value.Uint64(); live > large && all > live+live/share {
		runtime.GC()
	}
}

// share divides the memory in use: Trim leaves one part of it as garbage. Smaller parts are
// collected more often.
const share = 4

// Collect frees the garbage of the last stage, where memory is large, and returns it to the system:
// a large buffer has no room in the gaps that small objects have left. By itself, Go's collector
// waits until memory has doubled.
func Collect() {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(s); s[0].Value.Uint64() > large {
		debug.FreeOSMemory()
	}
}
