package lce

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// A variable keeps a tensor from one run to the next. READ_VARIABLE and ASSIGN_VARIABLE name it by
// the handle that VAR_HANDLE makes. CALL_ONCE names a subgraph that assigns its first values. Here
// a network is a function of its inputs. So a variable is an input, with the name of the variable,
// and an output, NAME.next. The caller brings that output as the input of the next run.

// variable is a variable of a file.
type variable struct {
	name     string
	input    int // tensor of the first READ_VARIABLE before any assignment, -1 if there is none
	assigned int // tensor that was assigned last, -1 if none was
}

// nextSuffix ends the name of the output that a variable becomes.
const nextSuffix = ".next"

// variables takes the variables out of f. begin are the subgraphs that assign their first values.
func (f *file) variables(begin []*file) error {
	byHandle, byName := map[int]*variable{}, map[string]*variable{}
	var all []*variable
	instead := map[int]int{} // by tensor that READ_VARIABLE makes: the tensor that holds it
	var ops []operator
	for _, o := range f.ops {
		for k, i := range o.inputs {
			if to, ok := instead[i]; ok {
				o.inputs[k] = to
			}
		}
		kept := false
		switch {
		case o.custom:
			kept = true
		case o.op == "CALL_ONCE":
		case o.op == "VAR_HANDLE" && len(o.outputs) == 1:
			name := handleName(&o)
			if byName[name] == nil {
				byName[name] = &variable{name: name, input: -1, assigned: -1}
				all = append(all, byName[name])
			}
			byHandle[o.outputs[0]] = byName[name]
		case o.op == "READ_VARIABLE" && len(o.inputs) == 1 && len(o.outputs) == 1:
			v := byHandle[o.inputs[0]]
			switch out := o.outputs[0]; {
			case v == nil:
				return fmt.Errorf("operator %d (%s) reads a variable without a handle", o.index, o.op)
			case v.assigned >= 0:
				instead[out] = v.assigned
			case v.input >= 0:
				instead[out] = v.input
			default:
				v.input = out
			}
		case o.op == "ASSIGN_VARIABLE" && len(o.inputs) == 2:
			v := byHandle[o.inputs[0]]
			if v == nil {
				return fmt.Errorf("operator %d (%s) assigns a variable without a handle", o.index, o.op)
			}
			v.assigned = o.inputs[1]
		default:
			kept = true
		}
		if kept {
			ops = append(ops, o)
		}
	}
	if len(all) == 0 {
		return nil
	}
	f.ops = ops
	for k, i := range f.outputs {
		if to, ok := instead[i]; ok {
			f.outputs[k] = f.copyTensor(to, f.tensors[i].name)
		}
	}
	beginnings := map[string]*tensor{}
	for _, s := range begin {
		s.assignments(beginnings)
	}
	for _, v := range all {
		f.expose(v, beginnings[v.name])
	}
	return nil
}

// handleName is the name of the variable of a VAR_HANDLE.
func handleName(o *operator) string {
	if name := o.options.String(1); name != "" {
		return name
	}
	return "variable"
}

// assignments adds the constants that a subgraph assigns to variables.
func (f *file) assignments(to map[string]*tensor) {
	names := map[int]string{}
	for _, o := range f.ops {
		switch {
		case o.custom:
		case o.op == "VAR_HANDLE" && len(o.outputs) == 1:
			names[o.outputs[0]] = handleName(&o)
		case o.op == "ASSIGN_VARIABLE" && len(o.inputs) == 2 && o.inputs[0] >= 0 && o.inputs[1] >= 0:
			if t := &f.tensors[o.inputs[1]]; t.data != nil {
				to[names[o.inputs[0]]] = t
			}
		}
	}
}

// expose makes v, which begins with the values of begin, nil if they are not known, an input and an
// output of f; if nothing is assigned to it, it is a constant.
func (f *file) expose(v *variable, begin *tensor) {
	if v.input < 0 {
		return // nothing reads it before it is assigned
	}
	if v.assigned < 0 && begin != nil {
		f.tensors[v.input].data = begin.data
		return
	}
	f.tensors[v.input].name = v.name
	f.inputs = append(f.inputs, v.input)
	f.notes[v.input] = fmt.Sprintf("a variable of the file, which begins with %s", valuesText(begin))
	if v.assigned >= 0 {
		f.notes[v.input] += fmt.Sprintf("; bring output %q of a run to the next", v.name+nextSuffix)
		f.outputs = append(f.outputs, f.copyTensor(v.assigned, v.name+nextSuffix))
	}
}

// copyTensor is a new tensor, made of tensor i by an operator that changes nothing.
func (f *file) copyTensor(i int, name string) int {
	t := f.tensors[i]
	t.name, t.data = name, nil
	f.tensors = append(f.tensors, t)
	f.ops = append(f.ops,
		operator{index: len(f.ops), op: "RESHAPE", inputs: []int{i}, outputs: []int{len(f.tensors) - 1}})
	return len(f.tensors) - 1
}

// valuesText describes the first values of a variable.
func valuesText(t *tensor) string {
	if t == nil {
		return "values that the file does not say"
	}
	size := typeSize(t.typ)
	if size == 0 || len(t.data) < size {
		return "values of type " + typeName(t.typ)
	}
	one := t.data[:size]
	if !bytes.Equal(t.data, slices.Repeat(one, len(t.data)/size)) {
		return "values that differ, those of the file's tensor " + fmt.Sprintf("%q", t.name)
	}
	switch t.typ {
	case typeF32:
		return fmt.Sprintf("%g everywhere", math.Float32frombits(binary.LittleEndian.Uint32(one)))
	case typeI8, typeU8, typeI32:
		return fmt.Sprintf("%d everywhere", t.integer(0))
	}
	return "values of type " + typeName(t.typ)
}
