package kit

import "runtime"

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
