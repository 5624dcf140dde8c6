package ripc

import (
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // pictures as inputs
	_ "image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/image/draw"

	"ripc/internal/describe"
	"ripc/internal/npy"
	"ripc/ir"
	"ripc/runtime"
	"ripc/schedule"
)

// Feed holds what the inputs of a network are given, for one or more inferences.
type Feed struct {
	Runs   int        // number of inferences
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

// LoadInputs reads the files that specs name, each "FILE" (the next input in order) or "NAME=FILE", and fills the inputs
// that are left with runtime.FillRandom from seed.
//
// A .npy file must hold the input's element type and its shape, or that without a batch of 1, or with K times its batch:
// the network is then run K times. A .png or .jpg picture is scaled to the input's height and width (bilinear) and
// becomes gray or RGB, by the number of channels, in the range 0 to 1 (f32), 0 to 255 (u8), or 0 to 2^bits-1, rounded
// (levels). Transparent pixels are put on black.
func LoadInputs(tensors []describe.Tensor, specs []string, seed uint64) (*Feed, error) {
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
			return nil, &ir.Error{Op: "--input " + spec, Msg: fmt.Sprintf("no input is left for it; the network has %s", tensorList(tensors))}
		}
		runs, err := loadInput(tensors[i], file)
		if err != nil {
			return nil, err
		}
		if len(runs) > 1 && feed.Runs > 1 && len(runs) != feed.Runs {
			return nil, &ir.Error{Pos: ir.Pos{File: file}, Msg: fmt.Sprintf("holds %d times the input's batch, %s holds %d times", len(runs), source, feed.Runs)}
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
		data, err := runtime.FillRandom(t, seed, i)
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
		if i := slices.IndexFunc(tensors, func(t describe.Tensor) bool { return t.Name == name }); i >= 0 {
			return i, file
		}
	}
	return -1, spec
}

// tensorList names tensors for messages.
func tensorList(tensors []describe.Tensor) string {
	var parts []string
	for _, t := range tensors {
		parts = append(parts, fmt.Sprintf("%s (%s %s)", t.Name, t.DType, shapeText(t.Shape)))
	}
	return strings.Join(parts, ", ")
}

func shapeText(shape []int) string { return strings.ReplaceAll(fmt.Sprint(shape), " ", ", ") }

func loadInput(t describe.Tensor, file string) ([][]byte, error) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".npy":
		a, err := npy.ReadFile(file)
		if err != nil {
			return nil, err
		}
		return checkArray(t, file, a)
	case ".png", ".jpg", ".jpeg":
		data, err := loadPicture(t, file)
		return [][]byte{data}, err
	}
	help := "give a .npy, .png or .jpg file"
	if name, _, ok := strings.Cut(file, "="); ok {
		help += fmt.Sprintf("; no input is called %q", name)
	}
	return nil, &ir.Error{Pos: ir.Pos{File: file}, Node: fmt.Sprintf("input %q", t.Name), Msg: "unknown kind of file", Help: help}
}

// batchAxis is the axis along which inferences are stacked: bit planes come before the batch.
func batchAxis(t describe.Tensor) int {
	if t.Packed {
		return 1
	}
	return 0
}

// checkArray returns a's bytes for each inference, or says what would be accepted.
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
		return nil, &ir.Error{Pos: ir.Pos{File: file}, Node: fmt.Sprintf("input %q", t.Name), Msg: msg, Help: help}
	}
	if k == 0 || a.DType != t.DType {
		help := fmt.Sprintf("give %s of shape %s", t.DType, shapeText(t.Shape))
		if batched {
			help += fmt.Sprintf(", or K times that along axis %d for K runs", axis)
		}
		if a.DType != t.DType {
			help += "; nothing is converted by itself (numpy: a.astype)"
		}
		return bad(fmt.Sprintf("the file holds %s %s, the input is %s %s", a.DType, shapeText(a.Shape), t.DType, shapeText(t.Shape)), help)
	}
	if t.DType == "u8" && t.Encoding != "" && t.Bits > 0 && t.Bits < 8 {
		if most := slices.Max(a.Data); int(most) >= 1<<t.Bits {
			return bad(fmt.Sprintf("holds the value %d", most), fmt.Sprintf("levels of %d bits are 0 to %d", t.Bits, 1<<t.Bits-1))
		}
	}
	return splitRuns(t, k, a.Data), nil
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

// joinRuns stacks the tensors of k inferences; it is the inverse of splitRuns, and gives the shape too.
func joinRuns(t describe.Tensor, runs [][]byte) (describe.Tensor, []byte) {
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

// loadPicture makes a picture file the contents of t.
func loadPicture(t describe.Tensor, file string) ([]byte, error) {
	bad := func(msg string, err error) error {
		return &ir.Error{Pos: ir.Pos{File: file}, Node: fmt.Sprintf("input %q", t.Name), Msg: msg, Err: err}
	}
	s := t.Shape
	if t.Packed || len(s) != 4 || s[0] != 1 || (s[3] != 1 && s[3] != 3) || t.Layout != "NHWC" || (t.DType != "f32" && t.DType != "u8") {
		return nil, bad(fmt.Sprintf("a picture does not fit %s %s %s; pictures fill f32 or u8 inputs [1, H, W, 1 or 3], NHWC", t.DType, shapeText(s), t.Layout), nil)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, bad("cannot open the picture", err)
	}
	defer f.Close()
	src, _, err := image.Decode(f)
	if err != nil {
		return nil, bad("cannot read the picture", err)
	}
	// 16 bits a channel, so that only the last step rounds.
	dst := image.NewRGBA64(image.Rect(0, 0, s[2], s[1]))
	draw.Draw(dst, dst.Bounds(), image.Black, image.Point{}, draw.Src)
	if src.Bounds().Size() == dst.Bounds().Size() {
		draw.Draw(dst, dst.Bounds(), src, src.Bounds().Min, draw.Over)
	} else {
		draw.BiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Over, nil)
	}
	top := 255.0
	if t.Encoding != "" && t.Bits > 0 {
		top = float64(int(1)<<t.Bits - 1)
	}
	var values []float32
	data := []byte{}
	for i := range s[1] * s[2] {
		c := dst.RGBA64At(i%s[2], i/s[2])
		channels := []uint16{c.R, c.G, c.B}
		if s[3] == 1 {
			channels = []uint16{color.Gray16Model.Convert(c).(color.Gray16).Y}
		}
		for _, v := range channels {
			if t.DType == "f32" {
				values = append(values, float32(float64(v)/math.MaxUint16))
			} else {
				data = append(data, uint8(math.Round(float64(v)/math.MaxUint16*top)))
			}
		}
	}
	if t.DType == "f32" {
		return npy.FromFloat32(s, values).Data, nil
	}
	return data, nil
}

// ReadSchedule reads a file of traces: sections that begin with "func NAME:", each followed by the steps of that Func's
// schedule, one a line. "#" starts a comment. Names are checked by CheckTraces.
func ReadSchedule(path string) (map[string]schedule.Trace, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, &ir.Error{Op: "--schedule", Msg: "cannot read the file", Err: err}
	}
	traces := map[string]schedule.Trace{}
	bad := func(line int, msg string) error {
		return &ir.Error{Pos: ir.Pos{File: path, Line: line + 1}, Msg: msg, Help: "write `func NAME:`, then one step a line"}
	}
	name, lines := "", strings.Split(string(text), "\n")
	section := make([]string, len(lines)) // other lines stay empty, so that messages count right
	finish := func() error {
		if name == "" {
			return nil
		}
		t, err := schedule.ParseTrace(path, strings.Join(section, "\n"))
		traces[name] = t
		clear(section)
		return err
	}
	for i, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		word := strings.TrimSpace(line)
		head, isHead := strings.CutPrefix(word, "func ")
		switch {
		case isHead:
			if err := finish(); err != nil {
				return nil, err
			}
			head, colon := strings.CutSuffix(strings.TrimSpace(head), ":")
			name = strings.TrimPrefix(strings.TrimSpace(head), "@")
			if _, twice := traces[name]; twice || !colon || name == "" {
				return nil, bad(i, fmt.Sprintf("%q begins no section (or one that was there before)", word))
			}
		case word != "" && name == "":
			return nil, bad(i, fmt.Sprintf("step %q stands before the first section", word))
		default:
			section[i] = line
		}
	}
	return traces, finish()
}

// CheckTraces fails if traces (Options.Traces) name a Func that c does not have.
func (c *Compiled) CheckTraces(traces map[string]schedule.Trace) error {
	var have []string
	for _, f := range c.Program.Funcs {
		have = append(have, f.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(traces)) {
		if !slices.Contains(have, name) {
			return &ir.Error{Op: "--schedule", Msg: "the network has no func " + name, Help: "there are " + strings.Join(have, ", ")}
		}
	}
	return nil
}
