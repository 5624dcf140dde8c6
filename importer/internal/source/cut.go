package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ripc/importer"
	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/internal/suggest"
	"ripc/ir"
)

// Wiring is a network as its file has it: the tensors that each node reads and makes. Tensors are
// told apart by name.
type Wiring struct {
	File            string
	Nodes           []Wire
	Inputs, Outputs []string
	// Aliases are other names that tensors may be asked for by.
	Aliases map[string]string
}

// Wire is a node: Reads and Makes are tensors, without constants. A node without a name has "".
type Wire struct {
	Name         string
	Reads, Makes []string
}

// Part is a part of a network.
type Part struct {
	Keep            []bool // by node
	Inputs, Outputs []string
}

// maker finds the node that makes each tensor.
func (w *Wiring) maker() map[string]int {
	made := map[string]int{}
	for i, n := range w.Nodes {
		for _, t := range n.Makes {
			if _, twice := made[t]; !twice {
				made[t] = i
			}
		}
	}
	return made
}

// find resolves a name that an option gives: that of a tensor, an alias, or that of a node for the
// first tensor it makes.
func (w *Wiring) find(option importer.Option, name string, made map[string]int) (string, error) {
	if _, ok := made[name]; ok || slices.Contains(w.Inputs, name) {
		return name, nil
	}
	if t, ok := w.Aliases[name]; ok {
		return t, nil
	}
	for _, n := range w.Nodes {
		if n.Name != "" && n.Name == name && len(n.Makes) > 0 {
			return n.Makes[0], nil
		}
	}
	known := slices.Clone(w.Inputs)
	for _, n := range w.Nodes {
		known = append(known, n.Makes...)
		if n.Name != "" && !slices.Contains(n.Makes, n.Name) {
			known = append(known, n.Name)
		}
	}
	known = slices.AppendSeq(known, maps.Keys(w.Aliases))
	slices.Sort(known)
	help := suggest.DidYouMean(name, known)
	if help == "" {
		var outs []string
		for _, n := range w.Nodes {
			outs = append(outs, n.Makes...)
		}
		help = "the last tensors are " + suggest.List(last(outs, 8), 8)
	}
	return "", w.Errorf(strings.TrimSpace(help), "%s: no tensor and no node is called so", option.With(name))
}

// last are the last n of a list.
func last(list []string, n int) []string { return list[max(0, len(list)-n):] }

// Errorf is an error of the network's file.
func (w *Wiring) Errorf(help, format string, args ...any) error {
	return &ir.Error{Pos: ir.Pos{File: w.File}, Msg: fmt.Sprintf(format, args...), Help: help}
}

// Part is the part that options ask for.
func (w *Wiring) Part(o importer.Options) (*Part, error) {
	if len(o.Begin)+len(o.End) > 0 {
		return w.Cut(o.Begin, o.End)
	}
	return &Part{Keep: slices.Repeat([]bool{true}, len(w.Nodes)), Inputs: w.Inputs, Outputs: w.Outputs}, nil
}

// Cut finds the part between tensors: from begin, or the network's inputs, to end, or the network's
// outputs. Only inputs that the part needs are its own. Errors are *ir.Error.
func (w *Wiring) Cut(begin, end []string) (p *Part, err error) {
	err = stop.Try(func() { p = w.cut(begin, end) })
	return p, err
}

func (w *Wiring) cut(begin, end []string) *Part {
	made := w.maker()
	resolve := func(option importer.Option, names []string) (out []string) {
		for _, name := range names {
			t := stop.Must(w.find(option, name, made))
			w.failIf(slices.Contains(out, t), "", "%s: tensor %q is named twice", option.With(name), t)
			out = append(out, t)
		}
		return out
	}
	from := resolve(importer.Begin, begin)
	p := &Part{Keep: make([]bool, len(w.Nodes)), Outputs: w.Outputs}
	if len(end) > 0 {
		p.Outputs = resolve(importer.End, end)
		for _, t := range p.Outputs {
			_, ok := made[t]
			w.failIf(!ok, "end it at the output of a node", "%s: this is an input of the network", importer.End.With(t))
			w.failIf(slices.Contains(from, t), "", "tensor %q is named by %s and by %s: nothing lies between", t,
				importer.Begin, importer.End)
		}
	}
	reached := map[string]bool{} // tensors that the part needs
	reader := map[string]string{}
	todo := slices.Clone(p.Outputs)
	for len(todo) > 0 {
		t := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[t] {
			continue
		}
		reached[t] = true
		i, ok := made[t]
		if !ok || p.Keep[i] || slices.Contains(from, t) || slices.Contains(w.Inputs, t) {
			continue
		}
		p.Keep[i] = true
		for _, in := range w.Nodes[i].Reads {
			reader[in] = t
			todo = append(todo, in)
		}
	}
	for _, t := range from {
		w.failIf(!reached[t], "", "%s: nothing that leads to an output reads it", importer.Begin.With(t))
	}
	p.Inputs = from
	for _, t := range w.Inputs {
		if !reached[t] || slices.Contains(from, t) {
			continue
		}
		if len(from) > 0 {
			panic(w.Errorf("cut this way off too, or keep the input with "+importer.Begin.With(t),
				"%s: the network still needs its input %q, for tensor %q", importer.Begin.With(from[0]), t, reader[t]))
		}
		p.Inputs = append(p.Inputs, t)
	}
	return p
}

// failIf ends the work with an error if a condition holds.
func (w *Wiring) failIf(condition bool, help, format string, args ...any) {
	if condition {
		panic(w.Errorf(help, format, args...))
	}
}

// advise adds, to the errors about unsupported nodes, the options that leave these nodes out. bad
// are all nodes that cannot be read.
func (w *Wiring) advise(faults []*ir.Error, bad map[int]bool) {
	advice := w.Advice(func(node int) bool { return bad[node] })
	if advice == "" {
		return
	}
	for _, e := range faults {
		if e.Help != "" {
			e.Help += "; "
		}
		e.Help += advice
	}
}

// Advice says which options would leave out nodes that cannot be read, where a good part of the
// network remains; "" if none do.
func (w *Wiring) Advice(bad func(node int) bool) string {
	const most = 4 // tensors that one wants to type
	made := w.maker()
	readers := map[string][]int{}
	for i, n := range w.Nodes {
		for _, t := range n.Reads {
			readers[t] = append(readers[t], i)
		}
	}
	// reach is all nodes that are reached from some by next.
	reach := func(from []int, next func(i int, visit func(int))) map[int]bool {
		seen := map[int]bool{}
		for todo := from; len(todo) > 0; {
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !seen[i] {
				seen[i] = true
				next(i, func(j int) { todo = append(todo, j) })
			}
		}
		return seen
	}
	behind := func(i int, visit func(int)) {
		for _, t := range w.Nodes[i].Makes {
			for _, r := range readers[t] {
				visit(r)
			}
		}
	}
	before := func(i int, visit func(int)) {
		for _, t := range w.Nodes[i].Reads {
			if m, ok := made[t]; ok {
				visit(m)
			}
		}
	}
	var first []int
	for _, t := range w.Inputs {
		first = append(first, readers[t]...)
	}
	live := reach(first, behind) // the others make constants
	var late, early []int        // near the end, near the beginning
	for i := range w.Nodes {
		if bad(i) && len(late)+len(early) < 100 {
			if 2*len(reach([]int{i}, behind)) <= len(live) {
				late = append(late, i)
			} else {
				early = append(early, i)
			}
		}
	}
	lost, gone := reach(late, behind), reach(early, before)
	var begin, end []string
	take := func(list *[]string, t string) {
		if !slices.Contains(*list, t) {
			*list = append(*list, t)
		}
	}
	if len(late) > 0 {
		var add func(t string)
		seen := map[string]bool{}
		add = func(t string) {
			i, ok := made[t]
			switch {
			case !ok || seen[t] || !live[i]: // an input, or a constant
			case !lost[i]:
				take(&end, t)
			default:
				seen[t] = true
				for _, in := range w.Nodes[i].Reads {
					add(in)
				}
			}
		}
		for _, t := range w.Outputs {
			add(t)
		}
	}
	for i := range w.Nodes {
		if gone[i] && live[i] {
			for _, t := range w.Nodes[i].Makes {
				if slices.ContainsFunc(readers[t], func(r int) bool { return !gone[r] }) {
					take(&begin, t)
				}
			}
		}
	}
	if n := len(begin) + len(end); n == 0 || n > most {
		return ""
	}
	p, err := w.Cut(begin, end)
	if err != nil {
		return ""
	}
	kept := 0
	for i, keep := range p.Keep {
		if keep && live[i] {
			kept++
		}
	}
	if 2*kept < len(live) || len(begin) > 0 && 2*kept == len(live) {
		return ""
	}
	for i, keep := range p.Keep {
		if keep && bad(i) {
			return ""
		}
	}
	flags := slices.Concat(lists.Map(begin, importer.Begin.With), lists.Map(end, importer.End.With))
	what := "cuts the network before it"
	switch {
	case len(early)+len(late) > 1:
		what = "leaves out all that is not supported"
	case len(early) > 0:
		what = "begins the network behind it"
	}
	return fmt.Sprintf("`%s` %s", strings.Join(flags, " "), what)
}
