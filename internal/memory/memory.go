// Package memory bounds the memory of large networks: weights are most of it, and each copy counts.
package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// large is the size of a heap, in bytes, from which on garbage is looked for between two stages.
const large = 16 << 20

// Trim collects garbage within a stage that leaves much, such as a search: garbage stays below a
// share of the memory in use. A small amount is left to Go's collector.
func Trim() {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	if all, live := s[0].Value.Uint64(), s[1].Value.Uint64(); all-min(live, all) > max(small, live/share) {
		runtime.GC()
	}
}

// small is an amount of garbage, in bytes, that is not worth a collection.
const small = 64 << 20

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
