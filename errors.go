package ripc

import (
	"errors"
	"fmt"

	"ripc/autotune"
	"ripc/autotune/runner"
	"ripc/autotune/search"
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

// ArtifactError says that a compiled network was given where its model is needed.
type ArtifactError struct {
	Path string
	For  Purpose
}

// Purpose is what a model is needed for.
type Purpose string

// The purposes.
const (
	ToInterpret Purpose = "interpret its definition"
	ToVerify    Purpose = "compare it with its definition"
	ToPrint     Purpose = "print its programs"
	ToIsolate   Purpose = "build a layer by itself"
	ToTune      Purpose = "tune it"
)

func (e *ArtifactError) Error() string {
	return fmt.Sprintf("%s is a compiled network: to %s, its model is needed", e.Path, e.For)
}

// EffortError says why schedules cannot be tried for a target.
type EffortError = compile.EffortError

// ThreadsError says that something cannot be done with so many threads.
type ThreadsError = engine.ThreadsError

// IsBadInput reports whether err is a mistake in what the user gave (a model, a file, a name), not a failure of ripc or
// of what it needs.
func IsBadInput(err error) bool {
	if err == nil || is[*compile.InternalError](err) {
		return false
	}
	return is[*ir.Error](err) || is[*npy.Error](err) || is[*codegen.KindError](err) || is[*targets.UnknownTargetError](err) ||
		is[*codegen.TargetError](err) || is[*compile.UnknownBackendError](err) || is[*compile.BackendError](err) || is[*EffortError](err) || is[*compile.AddressError](err) || is[*TargetError](err) || is[*ArtifactError](err) || is[*ChoiceError](err) || is[*ThreadsError](err) ||
		is[*runtime.FileError](err) || is[*runtime.FormatError](err) || is[*runner.NameError](err) || is[*search.NameError](err) || is[*autotune.ColdError](err)
}

func is[E error](err error) bool {
	var e E
	return errors.As(err, &e)
}
