package pt2

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The types of this file are PyTorch's schema of exported programs, as far as it is read.

type program struct {
	GraphModule struct {
		Graph struct {
			Inputs    []argument            `json:"inputs"`
			Nodes     []fileNode            `json:"nodes"`
			Tensors   map[string]tensorMeta `json:"tensor_values"`
			SymValues map[string]symInt     `json:"sym_int_values"`
		} `json:"graph"`
		Signature struct {
			InputSpecs  []inputSpec  `json:"input_specs"`
			OutputSpecs []outputSpec `json:"output_specs"`
		} `json:"signature"`
	} `json:"graph_module"`
	SchemaVersion struct{ Major, Minor int } `json:"schema_version"`
	TorchVersion  string                     `json:"torch_version"`
}

// fileNode is a call of an operator.
type fileNode struct {
	Target string `json:"target"`
	Inputs []struct {
		Name string   `json:"name"`
		Arg  argument `json:"arg"`
	} `json:"inputs"`
	Outputs  []argument `json:"outputs"`
	Metadata struct {
		Modules string `json:"nn_module_stack"`
	} `json:"metadata"`
}

type named struct {
	Name string `json:"name"`
}

// argument is a union: at most one of its fields is given.
type argument struct {
	Tensor          *named          `json:"as_tensor"`
	OptionalTensor  *optionalTensor `json:"as_optional_tensor"`
	Tensors         []named         `json:"as_tensors"`
	OptionalTensors json.RawMessage `json:"as_optional_tensors"`
	Int             *int64          `json:"as_int"`
	Ints            []int64         `json:"as_ints"`
	Float           *float          `json:"as_float"`
	Floats          []float         `json:"as_floats"`
	Bool            *bool           `json:"as_bool"`
	String          *string         `json:"as_string"`
	SymInt          *symArgument    `json:"as_sym_int"`
	SymInts         []symArgument   `json:"as_sym_ints"`
	ScalarType      *dtype          `json:"as_scalar_type"`
	None            *bool           `json:"as_none"`
}

type optionalTensor struct {
	Tensor *named `json:"as_tensor"`
}

// symArgument is a number, or the name of one that nodes compute from extents.
type symArgument struct {
	Name *string `json:"as_name"`
	Int  *int64  `json:"as_int"`
}

// float is a number, or the name of one that JSON has no digits for.
type float float64

// UnmarshalJSON reads a number or "Infinity", "-Infinity" or "NaN".
func (f *float) UnmarshalJSON(data []byte) error {
	text := string(data)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	v, err := strconv.ParseFloat(text, 64)
	*f = float(v)
	return err
}

// symInt is an extent. An open one is an expression.
type symInt struct {
	Int  *int64 `json:"as_int"`
	Expr *struct {
		Text string `json:"expr_str"`
	} `json:"as_expr"`
}

type tensorMeta struct {
	DType   dtype    `json:"dtype"`
	Sizes   []symInt `json:"sizes"`
	Strides []symInt `json:"strides"`
	Offset  symInt   `json:"storage_offset"`
}

// shape returns the extents of a tensor, 0 for open ones. open has the names of these, or their
// expressions.
func (m *tensorMeta) shape() (shape []int, open map[int]string) {
	shape, open = make([]int, len(m.Sizes)), map[int]string{}
	for d, s := range m.Sizes {
		if s.Int != nil && *s.Int >= 0 && *s.Int <= math.MaxInt32 {
			shape[d] = int(*s.Int)
		} else if s.Expr != nil {
			open[d] = s.Expr.Text
			if name, ok := strings.CutPrefix(open[d], "Symbol('"); ok {
				open[d], _, _ = strings.Cut(name, "'")
			}
		}
	}
	return shape, open
}

type inputSpec struct {
	UserInput *struct {
		Arg argument `json:"arg"`
	} `json:"user_input"`
	Parameter *struct {
		Arg  named  `json:"arg"`
		Name string `json:"parameter_name"`
	} `json:"parameter"`
	Buffer *struct {
		Arg  named  `json:"arg"`
		Name string `json:"buffer_name"`
	} `json:"buffer"`
	Constant *struct {
		Arg  named  `json:"arg"`
		Name string `json:"tensor_constant_name"`
	} `json:"tensor_constant"`
	CustomObj json.RawMessage `json:"custom_obj"`
	Token     json.RawMessage `json:"token"`
}

type outputSpec struct {
	UserOutput *struct {
		Arg argument `json:"arg"`
	} `json:"user_output"`
	Mutation *struct {
		Buffer string `json:"buffer_name"`
	} `json:"buffer_mutation"`
}

// payload is a tensor of the file.
type payload struct {
	Path   string      `json:"path_name"`
	Pickle bool        `json:"use_pickle"`
	Meta   *tensorMeta `json:"tensor_meta"`
}

// dtype is the type of a tensor's elements, numbered as in the schema.
type dtype int

const (
	dtHalf   dtype = 6
	dtFloat  dtype = 7
	dtDouble dtype = 8
	dtBool   dtype = 12
	dtBF16   dtype = 13
)

// The types that are read, by their number: PyTorch's name, the size of an element in bytes, and
// ONNX's number.
var dtypes = map[dtype]struct {
	name       string
	size, onnx int
}{1: {"uint8", 1, 2}, 2: {"int8", 1, 3}, 3: {"int16", 2, 5}, 4: {"int32", 4, 6}, 5: {"int64", 8, 7},
	dtHalf: {"float16", 2, 10}, dtFloat: {"float32", 4, 1}, dtDouble: {"float64", 8, 11}, dtBool: {"bool", 1, 9},
	dtBF16: {"bfloat16", 2, 16}}

// String is PyTorch's name of the type.
func (d dtype) String() string {
	return cmp.Or(dtypes[d].name, fmt.Sprintf("type %d of the schema", int(d)))
}

// float reports whether the elements are floats.
func (d dtype) float() bool { return d >= dtHalf && d <= dtDouble || d == dtBF16 }
