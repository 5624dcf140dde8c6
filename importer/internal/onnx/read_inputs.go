package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/importer"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/importer/internal/source"
	"ripc/internal/files"
	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/ir"
)

// initializers reads the file's constants.
func (b *builder) initializers() {
	g := b.model.Graph
	for _, s := range g.SparseInitializer {
		b.faults.Add(b.errorf("store it as a dense tensor", "initializer %q is sparse, which is not supported",
			s.GetValues().GetName()))
	}
	absent := map[string]*absence{}
	for _, t := range g.Initializer {
		if b.tensors[t.GetName()] != nil {
			b.faults.Add(b.errorf("", "initializer %q is given twice", t.GetName()))
			continue
		}
		v := &tensor{bad: true}
		var a *array
		err := stop.Try(func() { a = b.constant(t) })
		var lost *absentError
		switch {
		case errors.As(err, &lost):
			b.absent(absent, lost)
		case err != nil:
			b.faults.Add(&ir.Error{Pos: ir.Pos{File: b.file}, Node: fmt.Sprintf("initializer %q", t.GetName()),
				Msg: err.Error()})
		default:
			v = &tensor{shape: a.shape, konst: a}
		}
		b.tensors[t.GetName()] = v
	}
}

// absence is a data file that cannot be read, and the number of constants in it. There is one
// message for all of them.
type absence struct {
	fault     *ir.Error
	constants int
}

// absent reports lost, or counts it where its file is in list already.
func (b *builder) absent(list map[string]*absence, lost *absentError) {
	a := list[lost.location]
	if a == nil {
		a = &absence{fault: &ir.Error{Pos: ir.Pos{File: b.file}, Err: lost.err}}
		if !errors.Is(lost.err, files.ErrLFS) {
			a.fault.Help = "copy it along with the model, into the same folder and under this name"
		}
		list[lost.location] = a
		b.faults.Add(a.fault)
	}
	a.constants++
	a.fault.Msg = fmt.Sprintf("cannot read %q, the file with the data of %d constants", lost.location, a.constants)
	if a.constants == 1 {
		a.fault.Msg = fmt.Sprintf("cannot read %q, the file with the data of a constant", lost.location)
	}
}

// inputs makes the graph's inputs, as the file has them, and brings images into the order in which
// they are stored inside.
func (b *builder) inputs() {
	var files []*pb.ValueInfoProto
	for _, v := range b.model.Graph.Input {
		if t := b.tensors[v.GetName()]; t != nil && t.value == nil {
			continue // an initializer that is listed as an input too
		}
		if slices.ContainsFunc(files, func(o *pb.ValueInfoProto) bool { return o.GetName() == v.GetName() }) {
			b.faults.Add(b.errorf("", "input %q is given twice", v.GetName()))
			continue
		}
		files = append(files, v)
	}
	names := lists.Map(files, (*pb.ValueInfoProto).GetName)
	b.readInputs(names, func(i int) *tensor { return b.input(files[i]) })
}

// readInputs reads the inputs of these names by f.
func (b *builder) readInputs(names []string, f func(i int) *tensor) {
	b.sizes = stop.Must(source.NewSizes(b.file, b.options, names))
	for _, name := range names {
		b.used.Take(name)
	}
	for i, name := range names {
		b.n = &node{NodeProto: &pb.NodeProto{}, b: b, base: name, label: fmt.Sprintf("input %q", name)}
		t := &tensor{bad: true}
		if err := stop.Try(func() { t = f(i) }); err != nil {
			b.faults.Add(err)
		}
		b.tensors[name] = t
	}
	if len(names) == 0 {
		b.faults.Add(b.errorf("", "the model has no input"))
	}
}

func (b *builder) input(v *pb.ValueInfoProto) *tensor {
	name := v.GetName()
	tt := v.GetType().GetTensorType()
	if tt != nil && tt.Shape == nil {
		if given := b.sizes.Given(name); given != nil {
			tt = valueInfo(name, dtype(tt.GetElemType()), given).GetType().GetTensorType()
		}
	}
	if tt == nil || tt.Shape == nil {
		panic(b.errorf("say it: "+importer.Shape.With(name+"=1,..."), "input %q has no tensor type with a shape", name))
	}
	shape, note := b.inputShape(name, tt.Shape)
	if b.remark != "" {
		note = strings.TrimPrefix(note+"; "+b.remark, "; ")
		b.remark = ""
	}
	gv := &graph.Value{Name: name, Shape: shape, Layout: layoutOf(shape), Note: note}
	var q *quantParams
	switch dt := dtype(tt.GetElemType()); dt {
	case dtFloat:
	case dtUint8, dtInt8:
		q = b.inputParams(name, dt)
		gv.LevelType = q.attrs().LevelType
	default:
		panic(b.errorf("use float32, uint8 or int8", "input %q is %s, which is not supported", name, dt))
	}
	nhwcInput := len(shape) == 4 && b.permutesToNCHW(name)
	if nhwcInput {
		gv.Layout = "NHWC"
	}
	b.g.Input(gv)
	t := &tensor{shape: shape, value: gv}
	if len(shape) == 4 && !nhwcInput {
		t = b.store(t, nhwc())
	}
	if q == nil {
		t = b.trustType(t, gv)
	} else {
		t = b.pipe(t, "dequantize")
		t.integers = q
	}
	return t
}

// inputShape is an input's shape, and a note on it.
func (b *builder) inputShape(name string, s *pb.TensorShapeProto) ([]int, string) {
	var shape []int
	open := map[int]string{}
	for d, dim := range s.Dim {
		v := dim.GetDimValue()
		switch {
		case dim.Value == nil || dim.GetDimParam() != "":
			v, open[d] = 0, dim.GetDimParam()
		case v < 1 && b.sizes.Given(name) == nil || v > maxElements:
			panic(b.errorf("", "input %q: axis %d has size %d", name, d, v))
		}
		shape = append(shape, int(v))
	}
	if len(shape) == 0 || len(shape) > graph.MaxRank {
		panic(b.errorf(fmt.Sprintf("want 1 to %d axes", graph.MaxRank), "input %q has shape %v", name, shape))
	}
	shape, note, err := b.sizes.Shape(name, shape, open)
	stop.Check(err)
	return shape, note
}

// layoutOf labels a tensor of the file's interface.
func layoutOf(shape []int) string {
	if len(shape) == 4 {
		return "NCHW"
	}
	return graph.LayoutOf(shape)
}

// permutesToNCHW reports whether the caller's images have channels last: all nodes that look at
// more than single elements of the input come behind a transpose from NHWC to NCHW.
func (b *builder) permutesToNCHW(name string) bool {
	reached := map[string]bool{name: true}
	found := false
	for _, i := range b.order {
		p := b.model.Graph.Node[i]
		if !slices.ContainsFunc(p.Input, func(in string) bool { return reached[in] }) {
			continue
		}
		f, known := familyOf(p.GetDomain())
		switch op := p.GetOpType(); {
		case !known:
			return false
		case f == channelsLast:
			found = true
			continue
		case op == "Transpose":
			if !slices.ContainsFunc(p.Attribute, func(a *pb.AttributeProto) bool {
				return a.GetName() == "perm" && slices.Equal(a.Ints, []int64{0, 3, 1, 2})
			}) {
				return false
			}
			found = true
			continue
		case op == "Shape":
			continue
		case !slices.Contains([]string{"Cast", "Identity", "Div", "Mul", "Sub", "Add", "Clip", "Relu", "Neg", "Quant",
			"BipolarQuant", "QuantizeLinear", "DequantizeLinear"}, op):
			return false
		}
		for _, o := range p.Output {
			reached[o] = true
		}
	}
	for out := range b.wanted {
		if reached[out] {
			return false
		}
	}
	return found
}

// declaredType returns the type that the file says the values of a tensor have, in the words of
// QONNX and FINN: BIPOLAR, UINT8; "" if it says nothing.
func (b *builder) declaredType(name string) string {
	for _, a := range b.model.Graph.GetQuantizationAnnotation() {
		if a.GetTensorName() != name {
			continue
		}
		for _, p := range a.GetQuantParameterTensorNames() {
			if p.GetKey() == "finn_datatype" {
				return p.GetValue()
			}
		}
	}
	return ""
}

// declaredLevels is the quantizer that gives each of a declared type's values back; ok is false for
// types of real numbers, and of more than 8 bits.
func declaredLevels(name string) (a *graph.QuantizeAttrs, ok bool) {
	levels := func(bits, lo, hi int) (*graph.QuantizeAttrs, bool) {
		a := &graph.QuantizeAttrs{LevelType: unipolar(bits, 1, -lo)}
		if lo != 0 || hi != a.Top() {
			a.Range = &scalar.Range{Min: lo, Max: hi}
		}
		return a, true
	}
	switch name {
	case "BIPOLAR":
		return &graph.QuantizeAttrs{LevelType: bipolar(1, 1), Rounding: scalar.HalfUp}, true
	case "BINARY":
		return levels(1, 0, 1)
	case "TERNARY":
		return levels(2, -1, 1)
	}
	digits, unsigned := strings.CutPrefix(name, "UINT")
	if !unsigned {
		var signed bool
		if digits, signed = strings.CutPrefix(name, "INT"); !signed {
			return nil, false
		}
	}
	bits, err := strconv.Atoi(digits)
	switch {
	case err != nil || bits < 1 || bits > 8 || !unsigned && bits < 2:
		return nil, false
	case unsigned:
		return levels(bits, 0, 1<<bits-1)
	}
	return levels(bits, -1<<(bits-1), 1<<(bits-1)-1)
}

// trustType returns input t as levels of the type that the file declares, if it is asked to be; the
// caller brings f32 numbers all the same.
func (b *builder) trustType(t *tensor, gv *graph.Value) *tensor {
	gv.Declared = b.declaredType(gv.Name)
	a, ok := declaredLevels(gv.Declared)
	if !ok {
		gv.Declared = ""
	}
	if !ok || !b.options.TrustTypes {
		return t
	}
	t = b.elementwise(t, "quantize", a, nil)
	return b.pipe(t, "dequantize")
}
