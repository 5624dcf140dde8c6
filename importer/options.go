// Package importer has the options of all readers of models: the wanted part of a network, the
// sizes of its inputs, and the form in which the caller brings them.
package importer

// Options say how to read a model. The zero value reads it as it is.
type Options struct {
	// Name replaces the network's name, and so that of its functions and its header.
	Name string
	// Batch, if not 0, is the first extent of every input without an entry in Shapes, and overrides
	// the file's.
	Batch int
	// Shapes are the shapes of inputs by name, with the axes in the file's order, instead of the
	// file's own. The key "" is for the only input.
	Shapes map[string][]int
	// Begin and End name tensors, or nodes for their results. They become the inputs and outputs of
	// the network in this order, instead of the file's own. Nodes outside are ignored.
	Begin, End []string
	// TrustTypes takes f32 inputs for levels of the types that the file declares their values to
	// have (ONNX: finn_datatype). The caller still brings f32 numbers; others than the declared
	// ones count as the nearest.
	TrustTypes bool
	// Inputs describe the caller's inputs by name. The key "" is for all inputs that have no entry
	// of their own.
	Inputs map[string]Input
}

// AsItIs reports whether nothing is asked for.
func (o Options) AsItIs() bool {
	return o.Name == "" && o.Batch == 0 && len(o.Shapes)+len(o.Begin)+len(o.End)+len(o.Inputs) == 0
}

// Input is how the caller brings an input, where that is not how the model has it. The zero value
// is as the model has it.
type Input struct {
	Layout string // in which order the axes of images lie: NHWC or NCHW
	Type   string // of the elements: F32, or U8 for bytes that stand for 0 to 255
	// Scale, Mean and Std make (x*Scale - Mean) / Std of every number x before the network gets it,
	// each step in f32 with one rounding. Each has one number, or one for each channel; a step
	// without numbers is left out.
	Scale, Mean, Std []float32
}

// Values of Input.
const (
	NHWC = "NHWC"
	NCHW = "NCHW"
	F32  = "f32"
	U8   = "u8"
)
