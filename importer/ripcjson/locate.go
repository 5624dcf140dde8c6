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
	"ripc/internal/stop"
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
	err := stop.Try(func() {
		var raw json.RawMessage
		err := json.Unmarshal(data, &raw)
		if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
			panic(l.syntaxError(data, int(se.Offset)-1, se))
		}
		l.failIf(err != nil, 0, "not valid JSON: %v", err)
		l.dec.UseNumber()
		l.doc.root = l.value("", 0)
	})
	if done := ctx.Err(); done != nil {
		return nil, done
	}
	return l.doc, err
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

// failIf ends the work with an error at a line if a condition holds.
func (l *locator) failIf(condition bool, line int, format string, args ...any) {
	if condition {
		panic(&ir.Error{Pos: ir.Pos{File: l.file, Line: line}, Msg: fmt.Sprintf(format, args...)})
	}
}

// token returns the next token and its line.
func (l *locator) token() (json.Token, int) {
	tok, err := l.dec.Token()
	line := l.line(int(l.dec.InputOffset()) - 1)
	l.failIf(err != nil, line, "not valid JSON: %v", err)
	return tok, line
}

// value reads one value at pointer and notes it.
func (l *locator) value(pointer string, depth int) (v any) {
	tok, line := l.token()
	l.budget -= len(pointer) + valueCost
	l.failIf(l.budget < 0, line, "too many values")
	if _, ok := l.doc.lines[pointer]; !ok {
		l.doc.lines[pointer] = line
	}
	switch t := tok.(type) {
	case json.Delim:
		depth++
		l.failIf(depth > l.depth, line, "nested more than %d deep", l.depth)
		if t == '{' {
			v = l.object(pointer, depth)
		} else {
			v = l.array(pointer, depth)
		}
	case json.Number:
		f, err := strconv.ParseFloat(string(t), 64)
		l.failIf(err != nil || math.IsInf(f, 0), line, "number %.40s is out of range", t)
		v = f
	default:
		v = tok
	}
	l.doc.values[pointer] = v
	return v
}

func (l *locator) object(pointer string, depth int) any {
	out := map[string]any{}
	for l.dec.More() && !l.done() {
		tok, line := l.token()
		key, ok := tok.(string)
		l.failIf(!ok, line, "not valid JSON: an object's key is missing")
		at := join(pointer, key)
		_, twice := out[key]
		l.failIf(twice, line, "key %q is given twice, first in line %d", key, l.doc.lines[at])
		l.doc.lines[at] = line
		out[key] = l.value(at, depth)
	}
	l.token()
	return out
}

func (l *locator) array(pointer string, depth int) any {
	out := []any{}
	for l.dec.More() && !l.done() {
		l.failIf(pointer == "/nodes" && len(out) == l.nodes, l.line(int(l.dec.InputOffset())),
			"the network has more than %d nodes", l.nodes)
		out = append(out, l.value(join(pointer, strconv.Itoa(len(out))), depth))
	}
	l.token()
	return out
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
