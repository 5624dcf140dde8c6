package ripc

import (
	"errors"

	"ripc/codegen"
	"ripc/compile"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/npy"
	"ripc/targets"
)

// IsBadInput reports whether err is a mistake in what the user gave (a model, a file, a name), not a failure of ripc or
// of what it needs.
func IsBadInput(err error) bool {
	if err == nil || is[*compile.InternalError](err) {
		return false
	}
	return is[*ir.Error](err) || is[*npy.Error](err) || is[*codegen.KindError](err) || is[*targets.UnknownTargetError](err) ||
		is[*codegen.TargetError](err) || is[*compile.UnknownBackendError](err) ||
		is[*runtime.FileError](err) || is[*runtime.FormatError](err)
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
