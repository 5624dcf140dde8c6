package kit

import (
	"ripc/graph"
	"runtime"
)

// Try runs f and returns the error that f panicked with, nil if f came to its end.
func Try(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			panic(r)
		case error:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// Read returns the graph that f makes, or the error that f panicked with.
func Read(f func() *graph.Graph) (g *graph.Graph, err error) {
	err = Try(func() { g = f() })
	return g, err
}

// Check panics with err, if it is not nil.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Must returns v, or panics with err.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}
