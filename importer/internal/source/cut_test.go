package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/importer"
	"ripc/ir"
)

// wired is a network from text: a line "name: a b -> c d" for each node.
func wired(inputs, outputs string, nodes ...string) *Wiring {
	w := &Wiring{File: "f", Inputs: strings.Fields(inputs), Outputs: strings.Fields(outputs)}
	for _, n := range nodes {
		name, rest, _ := strings.Cut(n, ":")
		from, to, _ := strings.Cut(rest, "->")
		w.Nodes = append(w.Nodes, Wire{Name: name, Reads: strings.Fields(from), Makes: strings.Fields(to)})
	}
	return w
}

// network has a side branch, a skip connection, a constant and two outputs.
func network() *Wiring {
	w := wired("x z", "y v", "pre: x -> a", "c:-> k", "one: a k -> b", "two: b -> c c2", "add: a c -> d", "end: d -> y", "side: z -> v")
	w.Aliases = map[string]string{"other": "d"}
	return w
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ begin, end, want string }{
		{"", "", "pre c one two add end side: x z -> y v"},
		{"", "y", "pre c one two add end: x -> y"},
		{"", "b", "pre c one: x -> b"},
		{"", "two b", "pre c one two: x -> c b"},
		{"", "c2", "pre c one two: x -> c2"},
		{"", "other", "pre c one two add: x -> d"},
		{"a", "y", "c one two add end: a -> y"},
		{"c a", "y", "add end: c a -> y"},
		{"pre", "b", "c one: a -> b"},
		{"x", "b", "pre c one: x -> b"},
		{"", "k", "c:  -> k"},
		{"b", "d", `f: --begin b: the network still needs its input "x", for tensor "a"` + "\n    help: cut this way off too, or keep the input with --begin x"},
		{"b x", "d", "pre two add: b x -> d"},
		{"d", "b", "f: --begin d: nothing that leads to an output reads it"},
		{"b", "b", `f: tensor "b" is named by --begin and by --end: nothing lies between`},
		{"", "x", "f: --end x: this is an input of the network\n    help: end it at the output of a node"},
		{"", "d other", `f: --end other: tensor "d" is named twice`},
		{"", "tow", `f: --end tow: no tensor and no node is called so` + "\n    help: did you mean \"two\"?"},
		{"nothing", "", "f: --begin nothing: no tensor and no node is called so\n    help: the last tensors are a, k, b, c, c2, d, y, v"},
	} {
		w := network()
		p, err := w.Cut(strings.Fields(c.begin), strings.Fields(c.end))
		got := fmt.Sprint(err)
		if err == nil {
			var keep []string
			for i, k := range p.Keep {
				if k {
					keep = append(keep, w.Nodes[i].Name)
				}
			}
			got = strings.Join(keep, " ") + ": " + strings.Join(p.Inputs, " ") + " -> " + strings.Join(p.Outputs, " ")
		}
		if got != c.want {
			t.Errorf("%q to %q: %s\nwant %s", c.begin, c.end, got, c.want)
		}
	}
	if _, err := network().Cut(nil, []string{""}); err == nil {
		t.Error("no error of an empty name")
	}
}

// TestAdvice: the options that messages name leave out what is bad, and keep a good part.
func TestAdvice(t *testing.T) {
	long := wired("x", "y w", "n0: x -> a", "n1: a -> b", "n2: b -> c", "n3: c -> d", "n4: d -> e", "n5: e -> y", "n6: d -> w")
	for _, c := range []struct {
		bad, want string
	}{
		{"n5", "`--end e --end w` cuts the network before it"},
		{"n4", "`--end d --end w` cuts the network before it"},
		{"n4 n5", "`--end d --end w` leaves out all that is not supported"},
		{"n6", "`--end y --end d` cuts the network before it"},
		{"n0", "`--begin a` begins the network behind it"},
		{"n0 n5", "`--begin a --end e --end w` leaves out all that is not supported"},
		{"n2", "`--begin c` begins the network behind it"},
		{"n0 n2 n5", ""},
	} {
		if got := long.Advice(func(i int) bool { return slices.Contains(strings.Fields(c.bad), long.Nodes[i].Name) }); got != c.want {
			t.Errorf("%s: %s, want %s", c.bad, got, c.want)
		}
	}
	spaced := wired("x", "y", "a: x -> one", "b: one -> it's", "c: it's -> y")
	if got, want := spaced.Advice(func(i int) bool { return i == 2 }), "`--end 'it'\\''s'` cuts the network before it"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// Whatever is wrong with a file, the walk comes to an end and what it advises is so.
	rapid.Check(t, func(t *rapid.T) {
		name := func() string { return string(rune('a' + rapid.IntRange(0, 7).Draw(t, "tensor"))) }
		w := &Wiring{File: "f", Inputs: []string{name()}, Outputs: []string{name(), name()}}
		for range rapid.IntRange(0, 8).Draw(t, "nodes") {
			w.Nodes = append(w.Nodes, Wire{Name: name(), Reads: []string{name(), name()}, Makes: []string{name()}})
		}
		bad := rapid.IntRange(0, 255).Draw(t, "bad")
		advice := w.Advice(func(i int) bool { return bad>>i&1 == 1 })
		if advice == "" {
			return
		}
		var begin, end []string
		for _, part := range strings.Split(strings.Split(advice, "`")[1], "--")[1:] {
			option, tensor, _ := strings.Cut(strings.TrimSpace(part), " ")
			if option == "end" {
				end = append(end, tensor)
			} else {
				begin = append(begin, tensor)
			}
		}
		p, err := w.Cut(begin, end)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range p.Keep {
			if k && bad>>i&1 == 1 {
				t.Fatalf("%s keeps node %d of %+v", advice, i, w)
			}
		}
	})
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		o        importer.Options
		file     []int
		want     string
		wantNote string
	}{
		{importer.Options{}, []int{4, 3}, "[4 3]", ""},
		{importer.Options{}, []int{0, 3}, "[1 3]", "the file leaves the batch size N open, so it is 1 here (--batch)"},
		{importer.Options{Batch: 2}, []int{0, 3}, "[2 3]", ""},
		{importer.Options{Batch: 2}, []int{7, 3}, "[2 3]", ""},
		{importer.Options{Batch: 2}, []int{7}, "[7]", ""},
		{importer.Options{Batch: 2, Shapes: map[string][]int{"x": {5, 6}}}, []int{0, 0}, "[5 6]", ""},
		{importer.Options{Shapes: map[string][]int{"": {5, 6}}}, []int{1, 2}, "[5 6]", ""},
		{importer.Options{Batch: -1}, []int{1, 2}, `f: input "x": axis 0 is to have -1 elements`, ""},
		{importer.Options{Batch: 1 << 29}, []int{1, 2}, `f: input "x": axis 0 is to have 536870912 elements`, ""},
		{importer.Options{Shapes: map[string][]int{"x": {5}}}, []int{0, 2}, "f: --shape x=5: the input has 2 axes\n    help: the file's shape is ?,2", ""},
		{importer.Options{}, []int{0, 0}, `f: input "x": axis 1 ("") has no fixed size` + "\n    help: give all of them: --shape x=1,32", ""},
		{importer.Options{Shapes: map[string][]int{"w": {5}}}, []int{1, 2}, "f: --shape of \"w\": there is no such input\n    help: did you mean \"x\"?", ""},
	} {
		s, err := NewSizes("f", c.o, []string{"x"})
		var got []int
		var note string
		if err == nil {
			got, note, err = s.Shape("x", c.file, map[int]string{0: "N"})
		}
		text := fmt.Sprint(got)
		if err != nil {
			text = err.Error()
		}
		if text != c.want || note != c.wantNote {
			t.Errorf("%+v of %v: %s, %q; want %s, %q", c.o, c.file, text, note, c.want, c.wantNote)
		}
	}
	if _, err := NewSizes("f", importer.Options{Shapes: map[string][]int{"": {1}}}, []string{"x", "y"}); err == nil {
		t.Error("no error of a shape for one of two inputs")
	}
	b := Batch{1, 8}
	for _, c := range []struct{ x, want, got []int }{
		{[]int{8, 4}, []int{1, 4}, []int{8, 4}},
		{[]int{8, 4}, []int{1, -1}, []int{8, -1}},
		{[]int{8, 4}, []int{-1, 4}, []int{-1, 4}},
		{[]int{8, 4}, []int{2, 2}, []int{16, 2}},
		{[]int{8, 4}, []int{8, 4}, []int{8, 4}},
		{[]int{4, 8}, []int{1, -1}, []int{1, -1}},
		{[]int{8, 4}, []int{3, 4}, []int{3, 4}},
	} {
		if got := b.Reshape(c.x, c.want); !slices.Equal(got, c.got) {
			t.Errorf("%v to %v: %v, want %v", c.x, c.want, got, c.got)
		}
	}
	if (Batch{}).Slice([]int{8}, 0, 1, 1) != 1 || b.Slice([]int{8}, 0, 1, 1) != 8 || b.Slice([]int{8}, 1, 1, 1) != 1 {
		t.Error("slices")
	}
}

// TestAdapt: what the caller brings, as a graph.
func TestAdapt(t *testing.T) {
	for _, c := range []struct {
		in   importer.Input
		want string
	}{
		{importer.Input{Layout: "NHWC"}, `  input  x: f32[1, 4, 5, 3]
  y: f32[1, 4, 5, 3] = relu(x)
`},
		{importer.Input{Layout: "NCHW"}, `  input  x: f32[1, 3, 4, 5]
  t: f32[1, 4, 5, 3] = transpose(x) perm=[0 2 3 1]
  y: f32[1, 4, 5, 3] = relu(t)
`},
		{importer.Input{Type: "u8", Scale: []float32{0.5}, Std: []float32{1, 2, 3}}, `  input  x: unipolar8[1, 3, 4, 5]
  x.nhwc: unipolar8[1, 4, 5, 3] = transpose(x) perm=[0 2 3 1]
  x.float: f32[1, 4, 5, 3] = dequantize(x.nhwc)
  x.scale: f32[1, 4, 5, 3] = mul(x.float) right=0.5
  x.std: f32[1, 4, 5, 3] = div(x.scale) right=[3]
  y: f32[1, 4, 5, 3] = relu(x.std)
`},
		{importer.Input{Layout: "NHWC", Mean: []float32{1}}, `  input  x: f32[1, 4, 5, 3]
  x.mean: f32[1, 4, 5, 3] = sub(x) right=1
  y: f32[1, 4, 5, 3] = relu(x.mean)
`},
		{importer.Input{Mean: []float32{1, 2}}, "f: --mean: 2 numbers for input \"x\", which has 3 channels\n    help: give one, or one for each channel"},
		{importer.Input{Std: []float32{0}}, `f: --std: 0, for input "x"`},
		{importer.Input{Layout: "HWCN"}, "f: input \"x\": layout \"HWCN\"\n    help: it can be NHWC or NCHW"},
		{importer.Input{Type: "u16"}, "f: input \"x\": type \"u16\"\n    help: it can be u8 or f32"},
	} {
		b := graph.NewBuilder(&graph.Graph{Name: "g", File: "f"})
		b.Input(&graph.Value{Name: "x", Shape: []int{1, 3, 4, 5}, Layout: "NCHW"})
		for _, n := range []*graph.Node{
			{Name: "t", Op: "transpose", Inputs: []string{"x"}, Output: "t", Attrs: &graph.TransposeAttrs{Perm: []int{0, 2, 3, 1}}},
			{Name: "y", Op: "relu", Inputs: []string{"t"}, Output: "y", Attrs: &graph.NoAttrs{}},
		} {
			n.Pos = ir.Pos{File: "f"}
			if _, err := b.Append(n); err != nil {
				t.Fatal(err)
			}
		}
		b.Graph().Outputs = []string{"y"}
		g, err := Adapt(b.Graph(), importer.Options{Inputs: map[string]importer.Input{"x": c.in}})
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.TrimSuffix(strings.TrimPrefix(g.String(), "graph g {\n"), "  output y\n}\n")
			if err := graph.Check(g); err != nil {
				t.Error(err)
			}
		}
		if got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.in, got, c.want)
		}
	}
}
