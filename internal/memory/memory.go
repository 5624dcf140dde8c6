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
	if all, live, frugal := heap(); frugal && all-min(live, all) > max(small, live/share) {
		runtime.GC()
	}
}

// heap returns the bytes of all objects, and of those that the last collection kept. It is frugal
// unless GOGC asks for fewer collections than usual, as make test does.
func heap() (all, live uint64, frugal bool) {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64() <= 100
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
	if all, _, frugal := heap(); frugal && all > large {
		debug.FreeOSMemory()
	}
}
