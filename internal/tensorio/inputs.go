// Package tensorio reads a network's inputs, files of numbers and pictures, and stacks the outputs
// of several runs.
package tensorio

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/runtime/npy"
)

// Feed holds the inputs of a network, for one or more inferences.
type Feed struct {
	Runs   int        // number of inferences
	Notes  []string   // changes to pictures that did not fit
	inputs [][][]byte // by input and inference; one entry serves them all
}

// Run returns the inputs of inference k.
func (f *Feed) Run(k int) [][]byte {
	var out [][]byte
	for _, runs := range f.inputs {
		out = append(out, runs[min(k, len(runs)-1)])
	}
	return out
}

// Fill makes contents for input i, which no file is given for.
type Fill func(t describe.Tensor, i int) ([]byte, error)

// Seeded fills with runtime.FillRandom.
func Seeded(seed uint64) Fill {
	return func(t describe.Tensor, i int) ([]byte, error) { return runtime.FillRandom(t, seed, i) }
}

// Load reads the files that specs name, each "FILE" (the next input in order) or "NAME=FILE", and
// has the inputs that are left filled.
//
// A .npy file must hold the input's element type and its shape. The shape may lack a batch of 1, or
// have K times the batch: the network is then run K times. A .png or .jpg picture is scaled to the
// input's height and width (bilinear) and becomes gray or RGB, by the number of channels. Its range
// is 0 to 1 (f32), 0 to 255 (u8), or 0 to 2^bits-1, rounded (levels). Transparent pixels are put on
// black.
func Load(tensors []describe.Tensor, specs []string, fill Fill) (*Feed, error) {
	feed := &Feed{Runs: 1, inputs: make([][][]byte, len(tensors))}
	next, source := 0, ""
	for _, spec := range specs {
		i, file := bind(tensors, spec)
		if i < 0 {
			for next < len(tensors) && feed.inputs[next] != nil {
				next++
			}
			i = next
		}
		if i >= len(tensors) || feed.inputs[i] != nil {
			return nil, &ir.Error{Op: "input " + spec,
				Msg: fmt.Sprintf("no input is left for it; the network has %s", tensorList(tensors))}
		}
		runs, note, err := loadInput(tensors[i], file)
		if err != nil {
			return nil, unnamed(tensors, file, err)
		}
		if note != "" {
			feed.Notes = append(feed.Notes, note)
		}
		if len(runs) > 1 && feed.Runs > 1 && len(runs) != feed.Runs {
			return nil, &ir.Error{Pos: ir.Pos{File: file},
				Msg: fmt.Sprintf("holds %d times the input's batch, %s holds %d times", len(runs), source, feed.Runs)}
		}
		if len(runs) > 1 {
			feed.Runs, source = len(runs), file
		}
		feed.inputs[i] = runs
	}
	for i, t := range tensors {
		if feed.inputs[i] != nil {
			continue
		}
		data, err := fill(t, i)
		if err != nil {
			return nil, err
		}
		feed.inputs[i] = [][]byte{data}
	}
	return feed, nil
}

// bind splits a spec. The index is -1 if it names no input.
func bind(tensors []describe.Tensor, spec string) (int, string) {
	if name, file, ok := strings.Cut(spec, "="); ok {
		if i := slices.IndexFunc(tensors, func(t describe.Tensor) bool {
			return t.Title() == name || t.Name == name
		}); i >= 0 {
			return i, file
		}
	}
	return -1, spec
}

// tensorList names tensors for messages.
func tensorList(tensors []describe.Tensor) string {
	var parts []string
	for _, t := range tensors {
		parts = append(parts, fmt.Sprintf("%s (%s %s)", t.Title(), t.DType, ShapeText(t.Shape)))
	}
	return strings.Join(parts, ", ")
}

// ShapeText is a shape in messages, e.g. "[1, 28, 28, 1]".
func ShapeText(shape []int) string { return strings.ReplaceAll(fmt.Sprint(shape), " ", ", ") }

// loadInput reads the contents of t from a file, for each inference. note describes changes to a
// picture.
func loadInput(t describe.Tensor, file string) (runs [][]byte, note string, err error) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".npy":
		a, err := npy.ReadFile(file)
		if err != nil {
			return nil, "", err
		}
		runs, err := checkArray(t, file, a)
		return runs, "", err
	case ".png", ".jpg", ".jpeg":
		data, note, err := loadPicture(t, file)
		return [][]byte{data}, note, err
	}
	msg := "its name ends in none of .npy, .png, .jpg"
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		msg = "it is a folder"
	}
	return nil, "", &ir.Error{Pos: ir.Pos{File: file}, Node: fmt.Sprintf("input %q", t.Title()), Msg: msg,
		Help: "give a .npy, .png or .jpg file"}
}

// unnamed is err, and where the file that could not be read looks like NAME=FILE, that no input has
// this name.
func unnamed(tensors []describe.Tensor, file string, err error) error {
	name, rest, ok := strings.Cut(file, "=")
	if _, missing := os.Stat(file); !ok || missing == nil {
		return err
	}
	return &ir.Error{Op: "input " + file, Msg: fmt.Sprintf("no input is called %q", name),
		Help: fmt.Sprintf("the network has %s; %s alone fills the first that is left", tensorList(tensors), rest)}
}

// batchAxis is the axis along which inferences are stacked: bit planes come before the batch.
func batchAxis(t describe.Tensor) int {
	if t.Planes() {
		return 1
	}
	return 0
}

// checkArray returns a's bytes for each inference, or an error with the accepted alternatives.
func checkArray(t describe.Tensor, file string, a *npy.Array) ([][]byte, error) {
	axis, k := batchAxis(t), 0
	batched := len(t.Shape) > axis
	switch {
	case slices.Equal(a.Shape, t.Shape):
		k = 1
	case batched && t.Shape[axis] == 1 && slices.Equal(a.Shape, slices.Delete(slices.Clone(t.Shape), axis, axis+1)):
		k = 1
	case batched && len(a.Shape) == len(t.Shape) && t.Shape[axis] > 0 && a.Shape[axis]%t.Shape[axis] == 0:
		one := slices.Clone(a.Shape)
		one[axis] = t.Shape[axis]
		if slices.Equal(one, t.Shape) {
			k = a.Shape[axis] / t.Shape[axis]
		}
	}
	bad := func(msg, help string) ([][]byte, error) {
		return nil, &ir.Error{Pos: ir.Pos{File: file}, Node: fmt.Sprintf("input %q", t.Title()), Msg: msg, Help: help}
	}
	if k == 0 || a.DType != t.DType {
		help := fmt.Sprintf("give %s of shape %s", t.DType, ShapeText(t.Shape))
		if batched {
			help += fmt.Sprintf(", or K times that along axis %d for K runs", axis)
		}
		if a.DType != t.DType {
			help += "; nothing is converted by itself (numpy: a.astype)"
		}
		if order := imageOrder(a.Shape, t.Shape); order != "" {
			help += "; its axes are in another order (numpy: a.transpose" + order + ")"
		}
		return bad(fmt.Sprintf("the file holds %s %s, the input is %s %s", a.DType, ShapeText(a.Shape), t.DType,
			ShapeText(t.Shape)), help)
	}
	if t.DType == "u8" && t.Encoding != "" && t.Bits > 0 && t.Bits < 8 {
		if most := slices.Max(a.Data); int(most) >= 1<<t.Bits {
			return bad(fmt.Sprintf("holds the value %d", most),
				fmt.Sprintf("levels of %d bits are 0 to %d", t.Bits, 1<<t.Bits-1))
		}
	}
	return splitRuns(t, k, a.Data), nil
}

// imageOrder returns the permutation that makes shape got, one or more images, an array of shape
// want, if only the place of their channels differs, or "".
func imageOrder(got, want []int) string {
	for _, order := range [][]int{{0, 2, 3, 1}, {0, 3, 1, 2}} {
		if len(got) != len(order) || len(want) != len(order) {
			continue
		}
		same := want[0] != 0 && got[0] > 0 && got[0]%want[0] == 0
		for to, from := range order[1:] {
			same = same && got[from] == want[to+1]
		}
		if same {
			return strings.NewReplacer("[", "(", "]", ")").Replace(ShapeText(order))
		}
	}
	return ""
}

// splitRuns cuts k stacked tensors apart.
func splitRuns(t describe.Tensor, k int, data []byte) [][]byte {
	outer := 1
	for _, d := range t.Shape[:min(batchAxis(t), len(t.Shape))] {
		outer *= d
	}
	block := len(data) / max(outer*k, 1)
	runs := make([][]byte, k)
	for r := range runs {
		if outer == 1 {
			runs[r] = data[r*block : (r+1)*block]
			continue
		}
		for o := range outer {
			at := (o*k + r) * block
			runs[r] = append(runs[r], data[at:at+block]...)
		}
	}
	return runs
}

// JoinRuns stacks the tensors of k inferences; it is the inverse of splitRuns, and gives the shape
// too.
func JoinRuns(t describe.Tensor, runs [][]byte) (describe.Tensor, []byte) {
	axis := batchAxis(t)
	if len(runs) == 1 || len(t.Shape) <= axis {
		return t, slices.Concat(runs...)
	}
	t.Shape = slices.Clone(t.Shape)
	t.Shape[axis] *= len(runs)
	outer := 1
	for _, d := range t.Shape[:axis] {
		outer *= d
	}
	var data []byte
	for o := range outer {
		for _, r := range runs {
			block := len(r) / outer
			data = append(data, r[o*block:(o+1)*block]...)
		}
	}
	return t, data
}
