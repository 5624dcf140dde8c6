package ripcjson

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/schemas"
)

// validator is schemas/model.json, ready for use. It is in parts, so that a node is compared with
// the definition of its own op and not with the conditions of all ops. The parts also let a caller
// stop between nodes.
type validator struct {
	plain       any                           // the schema as plain values
	model, node *jsonschema.Schema            // of all but the nodes; of a node, whatever its op
	ops         map[string]*jsonschema.Schema // of nodes by op
}

// modelSchema fails only if the embedded schema is faulty. Models share it, since it takes long.
var modelSchema = sync.OnceValues(func() (*validator, error) {
	v, err := compiled(schemas.Model())
	if err != nil {
		return nil, fmt.Errorf("schemas/model.json: %w", err)
	}
	return v, nil
})

// compiled is the validator of a schema. Its definition "node" says in allOf, for each op, which
// definition its nodes are of.
func compiled(schema []byte) (_ *validator, err error) {
	defer stop.Catch(&err)
	v := &validator{ops: map[string]*jsonschema.Schema{}}
	var parts struct {
		Defs struct {
			Node struct {
				AllOf []struct {
					If struct {
						Properties struct{ Op struct{ Const string } }
					}
					Then struct {
						Ref string `json:"$ref"`
					}
				}
			}
		} `json:"$defs"`
	}
	stop.Check(json.Unmarshal(schema, &parts))
	v.plain = stop.Must(jsonschema.UnmarshalJSON(bytes.NewReader(schema)))
	cut := stop.Must(jsonschema.UnmarshalJSON(bytes.NewReader(schema)))
	delete(at(cut, "properties", "nodes"), "items")
	delete(at(cut, "$defs", "node"), "allOf")
	comp := jsonschema.NewCompiler()
	stop.Check(comp.AddResource(schemas.ModelURL, cut))
	v.model = stop.Must(comp.Compile(schemas.ModelURL))
	v.node = stop.Must(comp.Compile(schemas.ModelURL + "#/$defs/node"))
	for _, o := range parts.Defs.Node.AllOf {
		v.ops[o.If.Properties.Op.Const] = stop.Must(comp.Compile(schemas.ModelURL + o.Then.Ref))
	}
	return v, nil
}

// at is the object that lies in nested objects under these keys.
func at(v any, keys ...string) map[string]any {
	m, _ := v.(map[string]any)
	for _, k := range keys {
		m, _ = m[k].(map[string]any)
	}
	return m
}

// check notes every violation of the schema in p. Its error is that of ctx.
func (v *validator) check(ctx context.Context, doc *document, p *problems) error {
	c := &checker{problems: p, doc: doc, schema: v.plain}
	c.compare(v.model, doc.root)
	for i, n := range doc.list("/nodes") {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.in = []string{"nodes", strconv.Itoa(i)}
		c.compare(v.node, n)
		if op, ok := at(n)["op"].(string); ok && v.ops[op] != nil {
			c.compare(v.ops[op], n)
		}
	}
	return nil
}

// checker turns the validator's tree of faults into messages.
type checker struct {
	*problems
	doc    *document
	schema any      // model.json as plain values
	in     []string // where in the document the value lies that is compared
}

// compare notes the faults that a schema finds in a value.
func (c *checker) compare(s *jsonschema.Schema, value any) {
	err := s.Validate(value)
	if ve := (*jsonschema.ValidationError)(nil); errors.As(err, &ve) {
		c.walk(ve)
	} else if err != nil {
		c.addError(err)
	}
}

// walk reports the leaves below e: the inner nodes only say that something below them failed.
func (c *checker) walk(e *jsonschema.ValidationError) {
	for _, sub := range e.Causes {
		c.walk(sub)
	}
	if len(e.Causes) == 0 {
		c.leaf(e)
	}
}

func (c *checker) leaf(e *jsonschema.ValidationError) {
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		known := c.allowedKeys(e.SchemaURL)
		for _, key := range k.Properties {
			help := "no key is known here"
			if len(known) > 0 {
				help = c.didYouMean(key, known) + "known keys: " + strings.Join(known, ", ")
			}
			c.report(e, key, help, "unknown key %q", key)
		}
	case *kind.Required:
		for _, key := range k.Missing {
			c.report(e, "", "", "missing key %q", key)
		}
	case *kind.DependentRequired:
		c.report(e, k.Prop, "", "key %q needs %s as well", k.Prop, quoteAll(k.Missing))
	case *kind.Enum:
		want := lists.Map(k.Want, func(w any) string { return fmt.Sprint(w) })
		got, isText := k.Got.(string)
		if !isText {
			got = show(k.Got)
		}
		slices.Sort(want)
		c.report(e, "", c.didYouMean(got, want)+"known: "+strings.Join(want, ", "), "got %s, which is not known",
			show(k.Got))
	case *kind.Const:
		c.report(e, "", "", "got %s, want %s", show(k.Got), show(k.Want))
	case *kind.Type:
		c.report(e, "", "", "got %s, want %s", k.Got, strings.Join(k.Want, " or "))
	case *kind.Minimum:
		c.report(e, "", "", "got %s, want at least %s", ratText(k.Got), ratText(k.Want))
	case *kind.Maximum:
		c.report(e, "", "", "got %s, want at most %s", ratText(k.Got), ratText(k.Want))
	case *kind.MinItems:
		c.report(e, "", "", "got %d items, want at least %d", k.Got, k.Want)
	case *kind.MaxItems:
		c.report(e, "", "", "got %d items, want at most %d", k.Got, k.Want)
	case *kind.MinLength:
		c.report(e, "", "", "got %d characters, want at least %d", k.Got, k.Want)
	case *kind.MaxLength:
		c.report(e, "", "", "got %d characters, want at most %d", k.Got, k.Want)
	case *kind.Pattern:
		help := "names have at least one character and no control characters"
		if loc := c.location(e); loc[len(loc)-1] == "layout" {
			help = "a label is letters, digits and _"
		}
		c.report(e, "", help, "got %s", show(k.Got))
	default:
		c.report(e, "", "", "does not fit %s", e.SchemaURL)
	}
}

// report notes a fault at the value that e speaks of, or at its member key.
func (c *checker) report(e *jsonschema.ValidationError, key, help, format string, args ...any) {
	pointer := ""
	for _, step := range c.location(e) {
		pointer = join(pointer, step)
	}
	where, path := c.place(c.location(e))
	if path != "" {
		format = strings.ReplaceAll(path, "%", "%%") + ": " + format
	}
	line := c.doc.lines[pointer]
	if l, ok := c.doc.lines[join(pointer, key)]; ok && key != "" {
		line = l
	}
	c.add(line, where, help, format, args...)
}

// location is where in the document a fault is.
func (c *checker) location(e *jsonschema.ValidationError) []string {
	return slices.Concat(c.in, e.InstanceLocation)
}

// place splits a location into the node or input that it lies in and the rest, written like
// attrs.kernel[1].
func (c *checker) place(loc []string) (where, path string) {
	if len(loc) >= 2 && (loc[0] == "nodes" || loc[0] == "inputs") {
		at := join(join("", loc[0]), loc[1])
		name, ok := c.doc.values[at+"/name"].(string)
		switch {
		case !ok:
			where = fmt.Sprintf("%s[%s]", loc[0], loc[1])
		case loc[0] == "nodes":
			where = label(name, c.doc.text(at+"/op"))
		default:
			where = fmt.Sprintf("input %q", name)
		}
		loc = loc[2:]
	}
	for _, step := range loc {
		if _, err := strconv.Atoi(step); err == nil {
			path += "[" + step + "]"
			continue
		}
		if path != "" {
			path += "."
		}
		path += step
	}
	return where, path
}

// allowedKeys lists the keys that the schema at url allows.
func (c *checker) allowedKeys(url string) []string {
	_, pointer, _ := strings.Cut(url, "#")
	at := c.schema
	for _, step := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		m, _ := at.(map[string]any)
		if step != "" {
			at = m[step]
		}
	}
	m, _ := at.(map[string]any)
	props, _ := m["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(props))
}

func quoteAll(words []string) string {
	return strings.Join(lists.Map(words, strconv.Quote), ", ")
}

// show prints a JSON value for a message, cut to a readable length.
func show(v any) string {
	switch t := v.(type) {
	case string:
		if len(t) > 60 {
			return strconv.Quote(t[:60]) + "..."
		}
		return strconv.Quote(t)
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	}
	return fmt.Sprint(v)
}

func ratText(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}
