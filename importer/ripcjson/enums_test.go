package ripcjson

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"ripc/graph"
	"ripc/graph/scalar"
)

// texts are the names of an enumeration's values, each of which is read back as that value; no other text is read.
func texts[E interface {
	~uint8
	fmt.Stringer
}](t *testing.T, parse func(string) (E, error)) []string {
	t.Helper()
	var out []string
	for e := E(0); ; e++ {
		got, err := parse(e.String())
		if err != nil {
			break
		}
		if got != e {
			t.Errorf("%q is read as %q", e, got)
		}
		out = append(out, e.String())
	}
	for _, text := range []string{"", " ", out[0] + "_", "0"} {
		if e, err := parse(text); err == nil {
			t.Errorf("%q is read as %q", text, e)
		}
	}
	return out
}

// TestEnums: the schema and the graph have the same names.
func TestEnums(t *testing.T) {
	v, err := modelSchema()
	if err != nil {
		t.Fatal(err)
	}
	defs := v.plain.(map[string]any)["$defs"].(map[string]any)
	at := func(node any, path ...string) []string {
		for _, key := range path {
			node = node.(map[string]any)[key]
		}
		var out []string
		for _, text := range node.([]any) {
			out = append(out, text.(string))
		}
		return out
	}
	for _, c := range []struct {
		what         string
		schema, have []string
	}{
		{"rounding", at(defs["rounding"], "enum"), texts(t, scalar.ParseRounding)},
		{"padding", append(at(defs["padding"], "else", "enum"), "explicit"), texts(t, graph.ParsePaddingMode)}, // explicit ones are numbers
		{"pad_value", at(defs["pad_value"], "enum"), texts(t, graph.ParsePadValue)},
		{"weight_scale", at(defs["weight_scale"], "enum"), texts(t, graph.ParseWeightScale)},
		{"weight_encoding", at(defs["weight_encoding"], "enum"), texts(t, graph.ParseWeightEncoding)},
		{"mode", at(defs["shift_norm"], "properties", "attrs", "properties", "mode", "enum"), texts(t, graph.ParseShiftMode)},
	} {
		if !slices.Equal(c.schema, c.have) {
			t.Errorf("%s: the schema has %q, the graph %q", c.what, c.schema, c.have)
		}
	}
}

// TestFormats: models can have all ops that importers make, and no other; reading and writing know the same.
func TestFormats(t *testing.T) {
	v, err := modelSchema()
	if err != nil {
		t.Fatal(err)
	}
	node := v.plain.(map[string]any)["$defs"].(map[string]any)["node"].(map[string]any)
	inSchema := map[string]bool{}
	for _, op := range node["properties"].(map[string]any)["op"].(map[string]any)["enum"].([]any) {
		inSchema[op.(string)] = true
	}
	rows := maps.Clone(formats())
	for _, o := range graph.Ops() {
		f, ok := rows[o.Name]
		if ok == o.Fused || inSchema[o.Name] == o.Fused {
			t.Errorf("%s: made by fusedglue %v, in the schema (enum of op in schemas/model.json) %v, read and written (formats in ops.go) %v", o.Name, o.Fused, inSchema[o.Name], ok)
		}
		if ok {
			f.attrs(&coder{}, o.NewAttrs()) // it panics at attributes of another op
		}
		delete(rows, o.Name)
		delete(inSchema, o.Name)
	}
	if len(rows) > 0 || len(inSchema) > 0 {
		t.Errorf("there are no ops %v and %v", rows, inSchema)
	}
}
