package pt2

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The types of this file are PyTorch's schema of exported programs, as far as it is read.

type program struct {
	GraphModule struct {
		Graph struct {
			Nodes   []fileNode            `json:"nodes"`
			Tensors map[string]tensorMeta `json:"tensor_values"`
		} `json:"graph"`
		Signature struct {
			InputSpecs  []map[string]spec `json:"input_specs"`
			OutputSpecs []map[string]spec `json:"output_specs"`
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

// argument is a union of one field, kind. words are its numbers and names in their order. Truth
// values are 0 and 1.
type argument struct {
	kind  string
	words []string
}

// UnmarshalJSON reads a union. One of several fields has no kind and no words.
func (a *argument) UnmarshalJSON(data []byte) error {
	var union map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err := d.Decode(&union)
	if len(union) == 1 {
		for kind, v := range union {
			a.kind = kind
			a.collect(v)
		}
	}
	return err
}

func (a *argument) collect(v any) {
	switch v := v.(type) {
	case string:
		a.words = append(a.words, v)
	case json.Number:
		a.words = append(a.words, v.String())
	case bool:
		a.words = append(a.words, strconv.Itoa(truth(v)))
	case []any:
		for _, v := range v {
			a.collect(v)
		}
	case map[string]any:
		if _, none := v["as_none"]; none { // in a list; it keeps the place of a tensor
			a.words = append(a.words, "")
		}
		for _, field := range []string{"name", "as_name", "as_int", "as_tensor", "expr_str"} {
			a.collect(v[field])
		}
	}
}

// tensors lists the tensors that a names; "" stands for one that is left out.
func (a *argument) tensors() []string {
	if strings.Contains(a.kind, "_tensor") {
		return a.words
	}
	return nil
}

// symbols lists the computed numbers that a names.
func (a *argument) symbols() (list []string) {
	for _, w := range a.words {
		if _, err := strconv.Atoi(w); err != nil && strings.HasPrefix(a.kind, "as_sym_int") {
			list = append(list, w)
		}
	}
	return list
}

// extent is an argument of one number from 0; ok is false for others.
func (a *argument) extent() (n int, ok bool) {
	v, err := strconv.ParseUint(strings.Join(a.words, " "), 10, 31)
	if err != nil {
		return 0, false
	}
	return int(v), true
}

type tensorMeta struct {
	DType   dtype      `json:"dtype"`
	Sizes   []argument `json:"sizes"`
	Strides []argument `json:"strides"`
	Offset  argument   `json:"storage_offset"`
}

// shape returns the extents of a tensor, 0 for open ones. open has the names of these, or their
// expressions.
func (m *tensorMeta) shape() (shape []int, open map[int]string) {
	shape, open = make([]int, len(m.Sizes)), map[int]string{}
	for d, s := range m.Sizes {
		if shape[d], _ = s.extent(); s.kind == "as_expr" {
			shape[d], open[d] = 0, strings.Join(s.words, "")
			if name, ok := strings.CutPrefix(open[d], "Symbol('"); ok {
				open[d], _, _ = strings.Cut(name, "'")
			}
		}
	}
	return shape, open
}

// spec is an input or an output of the program. Weights have a name in the archive.
type spec struct {
	Arg       argument `json:"arg"`
	Parameter string   `json:"parameter_name"`
	Buffer    string   `json:"buffer_name"`
	Constant  string   `json:"tensor_constant_name"`
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
