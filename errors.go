package ripc

import (
	"errors"

	"ripc/codegen/llvm/artifact"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/npy"
	"ripc/targets"
)

// IsBadInput reports whether err is a mistake in what the user gave (a model, a file, a name), not a failure of ripc or
// of what it needs.
func IsBadInput(err error) bool {
	if err == nil || is[*internalError](err) {
		return false
	}
	return is[*ir.Error](err) || is[*npy.Error](err) || is[*artifact.KindError](err) || is[*targets.UnknownTargetError](err) ||
		is[*runtime.FileError](err) || is[*runtime.FormatError](err)
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}

// internalError is a mistake in ripc, even where its cause is of a type that stands for bad input elsewhere.
type internalError struct {
	what string
	err  error
}

func (e *internalError) Error() string { return "internal error: " + e.what + ": " + e.err.Error() }
func (e *internalError) Unwrap() error { return e.err }
