package ripc

import (
	"errors"
	"fmt"

	"ripc/codegen"
	"ripc/compile"
	"ripc/engine"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/npy"
	"ripc/targets"
)

// TargetError says that an artifact was compiled for another target than the one that was asked for.
type TargetError struct{ Path, Target, Want string }

func (e *TargetError) Error() string {
	return fmt.Sprintf("%s: was compiled for %s, not for %s", e.Path, e.Target, e.Want)
}

// ThreadsError says that something cannot be done with so many threads.
type ThreadsError = engine.ThreadsError

// IsBadInput reports whether err is a mistake in what the user gave (a model, a file, a name), not a failure of ripc or
// of what it needs.
func IsBadInput(err error) bool {
	if err == nil || is[*compile.InternalError](err) {
		return false
	}
	return is[*ir.Error](err) || is[*npy.Error](err) || is[*codegen.KindError](err) || is[*targets.UnknownTargetError](err) ||
		is[*codegen.TargetError](err) || is[*compile.UnknownBackendError](err) || is[*TargetError](err) || is[*ChoiceError](err) || is[*ThreadsError](err) ||
		is[*runtime.FileError](err) || is[*runtime.FormatError](err)
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
