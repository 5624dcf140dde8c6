package ripcjson

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"ripc/importer/internal/source"
	"ripc/ir"
)

// document is the JSON text as plain values, with the line of each.
type document struct {
	root any // map[string]any, []any, string, float64, bool or nil
	// values and lines are keyed by JSON pointer ("/nodes/3/attrs/bits"). The line of a member is
	// that of its key.
	values map[string]any
	lines  map[string]int
}

// locator walks the tokens of a JSON text.
type locator struct {
	file  string
	dec   *json.Decoder
	done  func() bool // nobody waits for the document any more
	ends  []int       // offset of each newline
	depth int
	// budget bounds the memory of the maps: each value costs its pointer and valueCost.
	budget int
	nodes  int // that the network may have
	doc    *document
}

// valueCost is about the memory of a value: itself, and its places in the maps.
const valueCost = 400

// locate parses data. Besides wrong syntax it refuses faults that encoding/json lets pass: keys
// given twice, and numbers that float64 cannot hold. It ends early with the error of ctx.
func locate(ctx context.Context, file string, data []byte, lim limits) (*document, error) {
	if len(data) > lim.bytes {
		return nil, source.TooLong(file, lim.bytes, tooLong)
	}
	l := &locator{file: file, done: func() bool {
		return ctx.Err() != nil
	}, dec: json.NewDecoder(bytes.NewReader(data)), depth: lim.depth, budget: lim.index, nodes: lim.nodes,
		doc: &document{values: map[string]any{}, lines: map[string]int{}}}
	for i, c := range data {
		if c == '\n' {
			l.ends = append(l.ends, i)
		}
	}
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
			return nil, l.syntaxError(data, int(se.Offset)-1, se)
		}
		return nil, l.fail(0, "", "not valid JSON: %v", err)
	}
	l.dec.UseNumber()
	root, err := l.value("", 0)
	if done := ctx.Err(); done != nil {
		return nil, done
	}
	if err != nil {
		return nil, err
	}
	l.doc.root = root
	return l.doc, nil
}

// syntaxError describes the fault of the text at offset, and shows the text.
func (l *locator) syntaxError(data []byte, offset int, err *json.SyntaxError) error {
	offset = min(max(offset, 0), len(data))
	line := l.line(offset)
	begin := 0
	if line > 1 {
		begin = l.ends[line-2] + 1
	}
	what := err.Error()
	for _, expected := range []struct{ context, want string }{
		{"looking for beginning of object key string", "a key in quotes"},
		{"looking for beginning of value", "a value"}, {"after object key:value pair", "a comma or }"},
		{"after object key", "a colon"}, {"after array element", "a comma or ]"},
		{"after top-level value", "the end of the file"},
	} {
		if strings.HasSuffix(what, " "+expected.context) && offset < len(data) {
			r, _ := utf8.DecodeRune(data[offset:])
			what = fmt.Sprintf("%q stands where %s is expected", r, expected.want)
			break
		}
	}
	if what == "unexpected end of JSON input" {
		what = "the file ends within an object, an array or a text"
	}
	const shown = 40 // bytes
	before := data[begin:min(offset+1, len(data))]
	text := strings.TrimSpace(strings.ToValidUTF8(string(before[max(0, len(before)-shown):]), ""))
	at := ir.Pos{File: l.file, Line: line, Col: max(1, utf8.RuneCount(before))}
	return &ir.Error{Pos: at, Msg: fmt.Sprintf("not valid JSON: %s: %q", what, text),
		Help: commaHelp(data[:min(offset+1, len(data))])}
}

// commaHelp is the help for text that breaks off at the bracket behind a comma, "" for other text.
func commaHelp(text []byte) string {
	if n := len(text); n > 0 && (text[n-1] == '}' || text[n-1] == ']') &&
		bytes.HasSuffix(bytes.TrimRight(text[:n-1], " \t\r\n"), []byte(",")) {
		return fmt.Sprintf("remove the comma before this %q", text[n-1])
	}
	return ""
}

// line is the number of the line, from 1, that holds the byte at offset.
func (l *locator) line(offset int) int {
	return 1 + sort.SearchInts(l.ends, max(offset, 0))
}

func (l *locator) fail(line int, help, format string, args ...any) error {
	return &ir.Error{Pos: ir.Pos{File: l.file, Line: line}, Msg: fmt.Sprintf(format, args...), Help: help}
}

// value reads one value at pointer and notes it.
func (l *locator) value(pointer string, depth int) (v any, err error) {
	tok, err := l.dec.Token()
	line := l.line(int(l.dec.InputOffset()) - 1)
	if err != nil {
		return nil, l.fail(line, "", "not valid JSON: %v", err)
	}
	if l.budget -= len(pointer) + valueCost; l.budget < 0 {
		return nil, l.fail(line, "", "too many values")
	}
	if _, ok := l.doc.lines[pointer]; !ok {
		l.doc.lines[pointer] = line
	}
	switch t := tok.(type) {
	case json.Delim:
		if depth++; depth > l.depth {
			return nil, l.fail(line, "", "nested more than %d deep", l.depth)
		}
		if t == '{' {
			v, err = l.object(pointer, depth)
		} else {
			v, err = l.array(pointer, depth)
		}
	case json.Number:
		f, e := strconv.ParseFloat(string(t), 64)
		if e != nil || math.IsInf(f, 0) {
			return nil, l.fail(line, "", "number %.40s is out of range", t)
		}
		v = f
	default:
		v = tok
	}
	l.doc.values[pointer] = v
	return v, err
}

func (l *locator) object(pointer string, depth int) (any, error) {
	out := map[string]any{}
	for l.dec.More() && !l.done() {
		tok, err := l.dec.Token()
		key, ok := tok.(string)
		line := l.line(int(l.dec.InputOffset()) - 1)
		if err != nil || !ok {
			return nil, l.fail(line, "", "not valid JSON: an object's key is missing")
		}
		at := join(pointer, key)
		if _, ok := out[key]; ok {
			return nil, l.fail(line, "", "key %q is given twice, first in line %d", key, l.doc.lines[at])
		}
		l.doc.lines[at] = line
		if out[key], err = l.value(at, depth); err != nil {
			return nil, err
		}
	}
	_, err := l.dec.Token()
	return out, err
}

func (l *locator) array(pointer string, depth int) (any, error) {
	out := []any{}
	for l.dec.More() && !l.done() {
		if pointer == "/nodes" && len(out) == l.nodes {
			return nil, l.fail(l.line(int(l.dec.InputOffset())), "", "the network has more than %d nodes", l.nodes)
		}
		v, err := l.value(join(pointer, strconv.Itoa(len(out))), depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := l.dec.Token()
	return out, err
}

// join appends a step to a JSON pointer.
func join(pointer, key string) string {
	if strings.ContainsAny(key, "~/") {
		key = strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
	}
	return pointer + "/" + key
}

// The accessors below are for documents that the schema has passed; a value that is absent gives
// the default.

func (d *document) text(pointer string) string {
	s, _ := d.values[pointer].(string)
	return s
}

func (d *document) textOr(pointer, def string) string {
	if s, ok := d.values[pointer].(string); ok {
		return s
	}
	return def
}

func (d *document) number(pointer string, def float64) float64 {
	if f, ok := d.values[pointer].(float64); ok {
		return f
	}
	return def
}

func (d *document) integer(pointer string, def int) int { return int(d.number(pointer, float64(def))) }

func (d *document) list(pointer string) []any {
	a, _ := d.values[pointer].([]any)
	return a
}

func (d *document) flag(pointer string) bool {
	v, _ := d.values[pointer].(bool)
	return v
}

// isOff reports whether a flag that is on by default is given as false.
func (d *document) isOff(pointer string) bool {
	v, given := d.values[pointer].(bool)
	return given && !v
}

// texts and integers copy an array of one type.
func (d *document) texts(pointer string) []string {
	var out []string
	for _, v := range d.list(pointer) {
		s, _ := v.(string)
		out = append(out, s)
	}
	return out
}

func (d *document) integers(pointer string) []int {
	var out []int
	for _, v := range d.list(pointer) {
		f, _ := v.(float64)
		out = append(out, int(f))
	}
	return out
}

// floats copies an array of numbers.
func (d *document) floats(pointer string) []float32 {
	var out []float32
	for _, v := range d.list(pointer) {
		f, _ := v.(float64)
		out = append(out, float32(f))
	}
	return out
}

// pair reads the schema's pair: two numbers, or one for both.
func (d *document) pair(pointer string, def [2]int) [2]int {
	if f, ok := d.values[pointer].(float64); ok {
		return [2]int{int(f), int(f)}
	}
	if a := d.integers(pointer); len(a) == 2 {
		return [2]int{a[0], a[1]}
	}
	return def
}
