package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ripc"
	"ripc/importer"
)

// modelFlags say how a model is read: every command that reads one has them.
type modelFlags struct {
	name       string
	batch      int
	shapes     []string
	begin, end []string
	layouts    []string
	types      []string
	scales     []string
	means      []string
	stds       []string
	exact      bool
	trustTypes bool
	signZero   int
	floatTwin  bool
	set        *pflag.FlagSet
	names      []string // of the flags above
}

// register adds the flags to cmd.
func (f *modelFlags) register(cmd *cobra.Command) {
	f.set = cmd.Flags()
	f.names = flagsAddedBy(f.set, f.add)
	f.registerCompletions(cmd)
}

// add adds the flags to f.set.
func (f *modelFlags) add() {
	f.set.StringVar(&f.name, "name", "",
		"name of the network, and so of its functions and its header: a C identifier (default the model's name)")
	f.set.IntVar(&f.batch, "batch", 0, "`N`, the first extent of all inputs, whatever the model has")
	f.set.StringArrayVar(&f.shapes, "shape", nil, "`[INPUT=]SHAPE` of an input, such as x=1,3,32,32; may be repeated")
	f.set.StringArrayVar(&f.begin, "begin", nil, "`TENSOR` or node where the network is to begin, instead of its "+
		"inputs; may be repeated")
	f.set.StringArrayVar(&f.end, "end", nil, "`TENSOR` or node where the network is to end, instead of its outputs; "+
		"may be repeated")
	f.set.StringArrayVar(&f.layouts, "input-layout", nil, "`[INPUT=]LAYOUT` of the caller's images, nhwc or nchw, "+
		"where it is not the model's")
	f.set.StringArrayVar(&f.types, "input-type", nil, "`[INPUT=]TYPE` that the caller brings for f32: u8 for bytes, "+
		"0 to 255")
	f.set.StringArrayVar(&f.scales, "scale", nil,
		"`[INPUT=]NUMBERS` that inputs are multiplied with first, such as 1/255; one, or one for each channel, "+
			"separated by commas")
	f.set.StringArrayVar(&f.means, "mean", nil, "`[INPUT=]NUMBERS` that are then subtracted")
	f.set.StringArrayVar(&f.stds, "std", nil, "`[INPUT=]NUMBERS` that inputs are then divided by")
	f.set.BoolVar(&f.trustTypes, "trust-input-types", false,
		"take f32 inputs for levels of the types that the file declares (finn_datatype), such as BIPOLAR")
	f.set.BoolVar(&f.exact, "exact-floats", false,
		"keep the file's roundings: do not take values for few bits that differ from them by rounding alone, as "+
			"(sign(x) - x) + x does from sign(x)")
	f.set.IntVar(&f.signZero, "sign-zero", 0,
		"`+1` or -1: the sign of 0, so that it has 1 bit instead of 2; where no 0 can be, it has that anyway")
	f.set.BoolVar(&f.floatTwin, "float-twin", false,
		"take the float network of the same layers and shapes in the model's place, to compare speed and size with; "+
			"its results mean nothing")
}

// givenFlags lists the flags that are on the command line.
func (f *modelFlags) givenFlags() []string {
	var names []string
	for _, n := range f.names {
		if f.set.Changed(n) {
			names = append(names, "--"+n)
		}
	}
	return names
}

// fill sets o by the flags.
func (f *modelFlags) fill(o *ripc.Options) error {
	m := &o.Import
	*m = ripc.ImportOptions{Name: f.name, Batch: f.batch, Begin: f.begin, End: f.end, TrustTypes: f.trustTypes}
	if f.set.Changed("name") && f.name == "" {
		return usagef("--name: give a name")
	}
	if f.set.Changed("sign-zero") && f.signZero != 1 && f.signZero != -1 {
		return usagef("--sign-zero %d: give +1 or -1", f.signZero)
	}
	o.FloatTwin = f.floatTwin
	o.Recognize = ripc.RecognizeOptions{ExactFloats: f.exact, SignZero: f.signZero}
	if f.set.Changed("batch") && f.batch < 1 {
		return usagef("--batch %d: give 1 or more", f.batch)
	}
	for _, flag := range []struct {
		name string
		args []string
	}{{"begin", f.begin}, {"end", f.end}} {
		for i, a := range flag.args {
			if a == "" {
				return usagef("--%s: give the name of a tensor or a node", flag.name)
			}
			if slices.Contains(flag.args[:i], a) {
				return usagef("--%s %s is given twice", flag.name, a)
			}
		}
	}
	if err := eachInput("shape", f.shapes, func(input, text string) error {
		shape, err := parseShape(text)
		if err == nil {
			if m.Shapes == nil {
				m.Shapes = map[string][]int{}
			}
			m.Shapes[input] = shape
		}
		return err
	}); err != nil {
		return err
	}
	inputs := map[string]ripc.InputOptions{}
	// change returns a function that sets one option of an input.
	change := func(set func(in *ripc.InputOptions, text string) error) func(input, text string) error {
		return func(input, text string) error {
			in := inputs[input]
			err := set(&in, text)
			inputs[input] = in
			return err
		}
	}
	numbers := func(to func(in *ripc.InputOptions) *[]float32) func(input, text string) error {
		return change(func(in *ripc.InputOptions, text string) (err error) {
			*to(in), err = parseNumbers(text)
			return err
		})
	}
	for _, flag := range []struct {
		name string
		args []string
		set  func(input, text string) error
	}{
		{"input-layout", f.layouts, change(func(in *ripc.InputOptions, text string) error {
			in.Layout = strings.ToUpper(text)
			return checkOneOf(in.Layout, importer.NHWC, importer.NCHW)
		})},
		{"input-type", f.types, change(func(in *ripc.InputOptions, text string) error {
			in.Type = strings.ToLower(text)
			return checkOneOf(in.Type, importer.U8, importer.F32)
		})},
		{"scale", f.scales, numbers(func(in *ripc.InputOptions) *[]float32 { return &in.Scale })},
		{"mean", f.means, numbers(func(in *ripc.InputOptions) *[]float32 { return &in.Mean })},
		{"std", f.stds, numbers(func(in *ripc.InputOptions) *[]float32 { return &in.Std })},
	} {
		if err := eachInput(flag.name, flag.args, flag.set); err != nil {
			return err
		}
	}
	for name, in := range inputs { // options of all inputs are defaults
		all := inputs[""]
		in.Layout, in.Type = cmp.Or(in.Layout, all.Layout), cmp.Or(in.Type, all.Type)
		for _, p := range []struct{ own, all *[]float32 }{{&in.Scale, &all.Scale}, {&in.Mean, &all.Mean},
			{&in.Std, &all.Std}} {
			if len(*p.own) == 0 {
				*p.own = *p.all
			}
		}
		inputs[name] = in
	}
	if len(inputs) > 0 {
		m.Inputs = inputs
	}
	return nil
}

// eachInput calls set for every argument [INPUT=]VALUE of a flag. Without INPUT, the input is "",
// which means all.
func eachInput(flag string, args []string, set func(input, text string) error) error {
	seen := map[string]bool{}
	for _, a := range args {
		input, text := "", a
		if i := strings.LastIndexByte(a, '='); i >= 0 { // names of tensors may have an equals sign, values have none
			input, text = a[:i], a[i+1:]
		}
		if seen[input] {
			return usagef("--%s %s: it is given for this input already", flag, a)
		}
		seen[input] = true
		if err := set(input, text); err != nil {
			return usagef("--%s %s: %v", flag, a, err)
		}
	}
	return nil
}

func checkOneOf(text string, words ...string) error {
	if slices.Contains(words, text) {
		return nil
	}
	return fmt.Errorf("it can be %s", strings.ToLower(strings.Join(words, " or ")))
}

// parseShape reads extents, separated by commas or "x", perhaps in brackets.
func parseShape(text string) ([]int, error) {
	inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "["), "]")
	var shape []int
	for _, part := range strings.FieldsFunc(inner, func(r rune) bool { return r == ',' || r == 'x' || r == ' ' }) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > 1<<31-1 {
			return nil, fmt.Errorf("%q is no extent; give numbers from 1 up, such as 1,3,32,32", part)
		}
		shape = append(shape, n)
	}
	if len(shape) == 0 {
		return nil, fmt.Errorf("give extents, such as 1,3,32,32")
	}
	return shape, nil
}

// parseNumbers reads f32 numbers, separated by commas. a/b is a fraction, divided before it is
// rounded.
func parseNumbers(text string) ([]float32, error) {
	var out []float32
	for _, part := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"), ",") {
		part = strings.TrimSpace(part)
		over, under, fraction := strings.Cut(part, "/")
		v, err := strconv.ParseFloat(over, 32)
		if fraction && err == nil {
			var a, b float64
			if a, err = strconv.ParseFloat(over, 64); err == nil {
				b, err = strconv.ParseFloat(under, 64)
			}
			v = a / b
		}
		if w := float64(float32(v)); err != nil || w-w != 0 {
			return nil, fmt.Errorf("%q is no finite number", part)
		}
		out = append(out, float32(v))
	}
	return out, nil
}
