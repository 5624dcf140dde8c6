package lce

import (
	"fmt"
	"slices"

	"ripc/importer"
	"ripc/importer/internal/source"
	"ripc/internal/lists"
	"ripc/internal/stop"
)

// wiring is the file's network as it is cut. Tensors are called as the file does; second ones of a
// name, which nobody can ask for, have a number too.
func (f *file) wiring(name string) (w *source.Wiring, tensors map[string]int) {
	w, tensors = &source.Wiring{File: name, Aliases: map[string]string{}}, map[string]int{}
	keys := make([]string, len(f.tensors))
	for i, t := range f.tensors {
		keys[i] = t.name
		if _, taken := tensors[t.name]; taken || t.name == "" {
			keys[i] = fmt.Sprintf("%s (tensor %d)", t.name, i)
		}
		tensors[keys[i]] = i
	}
	list := func(from []int) (out []string) {
		for _, i := range from {
			if i >= 0 && f.tensors[i].data == nil && !f.tensors[i].empty {
				out = append(out, keys[i])
			}
		}
		return out
	}
	w.Inputs, w.Outputs = list(f.inputs), list(f.outputs)
	for _, o := range f.ops {
		w.Nodes = append(w.Nodes, source.Wire{Reads: list(o.inputs), Makes: list(o.outputs)})
		for _, i := range o.outputs { // as the layers are called
			if s := shortName(legalName(f.tensors[i].name)); w.Aliases[s] == "" {
				w.Aliases[s] = keys[i]
			}
		}
	}
	return w, tensors
}

// cut leaves in f the part that the options ask for. Operators outside are never read.
func (f *file) cut(name string, o importer.Options) {
	if len(o.Begin)+len(o.End) == 0 {
		return
	}
	w, tensors := f.wiring(name)
	part := stop.Must(w.Cut(o.Begin, o.End))
	number := func(name string) int { return tensors[name] }
	f.inputs, f.outputs = lists.Map(part.Inputs, number), lists.Map(part.Outputs, number)
	var ops []operator
	for i, keep := range part.Keep {
		if keep {
			ops = append(ops, f.ops[i])
		}
	}
	f.ops = ops
	for _, i := range f.inputs {
		for k := range f.ops {
			if slices.Contains(f.ops[k].outputs, i) {
				panic(w.Errorf("name the other results of its operator too",
					"%s: it is made together with another tensor that is needed",
					importer.Begin.With(f.tensors[i].name)))
			}
		}
	}
}
