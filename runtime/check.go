package runtime

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"ripc/internal/abi"
	"ripc/internal/names"
	"ripc/runtime/describe"
)

// checkDescription reports whether a description makes sense as a whole: every name can be a symbol
// or be printed, every size is possible, and every operand of a stage lies in the memory that it
// names. All that is laid out, called or printed by a description has passed here.
func checkDescription(a *describe.Artifact) error {
	if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(a.Name) {
		return fmt.Errorf("name %q is not a C identifier", a.Name)
	}
	if err := checkTexts(reflect.ValueOf(*a), "the description"); err != nil {
		return err
	}
	for _, v := range []struct {
		name        string
		bytes, unit int64
	}{{"arena_bytes", a.ArenaBytes, abi.Align}, {"scratch_bytes", a.ScratchBytes, abi.Align},
		{"weight_bytes", a.WeightBytes, 1}} {
		if v.bytes < 0 || v.bytes > maxTensor || v.bytes%v.unit != 0 {
			return fmt.Errorf("%s is %d, not a multiple of %d from 0 to %d", v.name, v.bytes, v.unit, int64(maxTensor))
		}
	}
	if len(a.Inputs) == 0 || len(a.Outputs) == 0 {
		return fmt.Errorf("%d inputs and %d outputs; at least one of each is needed", len(a.Inputs), len(a.Outputs))
	}
	for i, t := range a.Inputs {
		if _, err := TensorBytes(t); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	for i, t := range a.Outputs {
		if _, err := TensorBytes(t); err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
	}
	for _, s := range a.Stages {
		if err := checkStage(a, s); err != nil {
			return fmt.Errorf("stage %q: %w", s.Name, err)
		}
	}
	return nil
}

// checkTexts fails if a string in v, which is called name, could not be printed on a terminal.
// Notes are the user's words, and quoted wherever they are printed.
func checkTexts(v reflect.Value, name string) error {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s != "" && !names.Printable(s) {
			return fmt.Errorf("%s is %q, which is no text that can be printed", name, s)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return checkTexts(v.Elem(), name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkTexts(v.Index(i), name); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if err := checkTexts(k, name); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if field == "note" {
				continue
			}
			if err := checkTexts(v.Field(i), field); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkStage checks the stage s of a.
func checkStage(a *describe.Artifact, s describe.Stage) error {
	if s.MACs < 0 {
		return fmt.Errorf("%d multiply-adds", s.MACs)
	}
	for i, t := range slices.Concat(s.Reads, s.Writes) {
		if err := checkOperand(a, t, i >= len(s.Reads)); err != nil {
			return err
		}
	}
	for _, l := range s.Launches {
		if min(l.Blocks, l.Threads) < 1 || l.Shared < 0 || max(l.Blocks, l.Threads, l.Shared) > math.MaxInt32 {
			return fmt.Errorf("kernel %q has %d blocks of %d threads and %d bytes; possible are 1 to %d, "+
				"0 bytes or more", l.Kernel, l.Blocks, l.Threads, l.Shared, math.MaxInt32)
		}
	}
	return nil
}

// checkOperand checks that t, which a stage of a reads or writes, is where it says that it is.
func checkOperand(a *describe.Artifact, t describe.Tensor, written bool) error {
	size, err := OperandBytes(t)
	if err != nil {
		return err
	}
	within := func(room int64) error {
		if t.Offset < 0 || t.Offset > room || int64(size) > room-t.Offset {
			return fmt.Errorf("tensor %q: %d bytes at %d of the %s, which has %d", t.Name, size, t.Offset, t.Where,
				room)
		}
		return nil
	}
	same := func(of []describe.Tensor) error {
		if t.Offset < 0 || t.Offset >= int64(len(of)) {
			return fmt.Errorf("tensor %q is %s %d of %d", t.Name, t.Where, t.Offset, len(of))
		}
		if o := of[t.Offset]; o.DType != t.DType || !slices.Equal(o.Shape, t.Shape) {
			return fmt.Errorf("tensor %q is %s %v here, %s %d is %s %v", t.Name, t.DType, t.Shape, t.Where,
				t.Offset, o.DType, o.Shape)
		}
		return nil
	}
	switch {
	case t.Where == "arena":
		return within(a.ArenaBytes)
	case t.Where == "const" && !written:
		return within(a.WeightBytes)
	case t.Where == "input" && !written:
		return same(a.Inputs)
	case t.Where == "output":
		return same(a.Outputs)
	}
	return fmt.Errorf("tensor %q, written %t, is in %q", t.Name, written, t.Where)
}
