// Package stop ends work at the first error, without statements that only pass the error on. A
// function that finds a fault panics with an error, or calls Check or Must. Try and Catch return
// that error. Panics with other values, and those of the runtime, go on.
package stop

import (
	"errors"
	"runtime"
)

// Try runs f and returns the error that f panicked with, nil if f came to its end.
func Try(f func()) (err error) {
	defer Catch(&err)
	f()
	return nil
}

// Catch, called by defer, sets err to the error that the function panicked with. An error that
// another deferred call has set stays behind it. Calls that are deferred later run before, and do
// not see the error.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case runtime.Error:
		panic(r)
	case error:
		if *err != nil {
			r = errors.Join(r, *err)
		}
		*err = r
	default:
		panic(r)
	}
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

// Must2 is Must for two values.
func Must2[T, U any](v T, w U, err error) (T, U) {
	Check(err)
	return v, w
}
