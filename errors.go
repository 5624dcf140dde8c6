package ripc

import (
	"errors"
	"fmt"

	"ripc/compile"
	"ripc/engine"
)

// TargetError says that an artifact was compiled for another target than the requested one.
type TargetError struct{ Path, Target, Want string }

func (e *TargetError) Error() string {
	return fmt.Sprintf("%s: was compiled for %s, not for %s", e.Path, e.Target, e.Want)
}

// BadInput reports that the input is at fault.
func (*TargetError) BadInput() bool { return true }

// ArtifactError says that a compiled network was given where its model is needed.
type ArtifactError struct {
	Path string
	For  Purpose
}

// Purpose says why a model is needed.
type Purpose string

// The purposes.
const (
	ToInterpret Purpose = "interpret its definition"
	ToVerify    Purpose = "compare it with its definition"
	ToPrint     Purpose = "print its programs"
	ToIsolate   Purpose = "build a layer by itself"
	ToTune      Purpose = "tune it"
	// ToAccelerate is for FPGAs.
	ToAccelerate Purpose = "make an accelerator of it"
)

func (e *ArtifactError) Error() string {
	return fmt.Sprintf("%s is a compiled network: to %s, its model is needed", e.Path, e.For)
}

// BadInput reports that the input is at fault.
func (*ArtifactError) BadInput() bool { return true }

// EffortError says why schedules cannot be tried for a target.
type EffortError = compile.EffortError

// ThreadsError says that an engine cannot use the given number of threads.
type ThreadsError = engine.ThreadsError

// IsBadInput reports whether the input (a model, another file, a name) is at fault, not ripc or a
// tool that it needs. The outermost error of err that has a method BadInput decides.
func IsBadInput(err error) bool {
	var judged interface{ BadInput() bool }
	return errors.As(err, &judged) && judged.BadInput()
}
