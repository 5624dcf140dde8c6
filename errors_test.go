package ripc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ripc"
	"ripc/autotune"
	"ripc/autotune/hub"
	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/autotune/search"
	"ripc/codegen"
	"ripc/codegen/llvm/toolchain"
	"ripc/compile"
	"ripc/internal/files"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/npy"
	"ripc/targets"
)

func TestUnknownPass(t *testing.T) {
	_, err := ripc.Compile(context.Background(), "examples/digits/digits.json", ripc.Options{Disable: []string{"bind"}})
	if err == nil || !ripc.IsBadInput(err) || !strings.Contains(err.Error(), "disable pass bind") || !strings.Contains(err.Error(), "fold_steps") {
		t.Errorf("%v", err)
	}
}

// TestBadInput: each error says by itself whether the input is at fault, however deep it is wrapped.
func TestBadInput(t *testing.T) {
	for _, err := range []error{
		&ir.Error{}, &npy.Error{}, &codegen.KindError{}, &codegen.TargetError{}, &targets.UnknownTargetError{},
		&ripc.EffortError{}, &ripc.TargetError{}, &ripc.ArtifactError{}, &ripc.ChoiceError{},
		&ripc.ThreadsError{}, &runtime.FileError{}, &runtime.FormatError{}, &runner.NameError{},
		&runner.KeyError{}, &search.NameError{}, &autotune.ColdError{}, &records.NotRecordsError{}, &hub.OpenHubError{},
	} {
		if !ripc.IsBadInput(fmt.Errorf("%w", errors.Join(context.Canceled, err))) {
			t.Errorf("%T is no bad input", err)
		}
	}
	for _, err := range []error{nil, context.Canceled, &compile.InternalError{}, &files.WriteError{}, &toolchain.MissingToolError{}, &runtime.ArchError{},
		&runtime.FeatureError{}, &runner.LostError{}} {
		if ripc.IsBadInput(err) {
			t.Errorf("%T is bad input", err)
		}
	}
}
