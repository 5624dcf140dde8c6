package ripcjson

import (
	"errors"
	"strings"
	"testing"

	"ripc/ir"
)

// TestSyntaxPosition: a mistake of syntax is told with its line, its column in characters, and the text there.
func TestSyntaxPosition(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"name\": \"ü\",,\n}":   `m.json:2:15: not valid JSON: ',' stands where a key in quotes is expected: "\"name\": \"ü\",,"`,
		"{\"a\" 1}":                   `m.json:1:6: not valid JSON: '1' stands where a colon is expected: "{\"a\" 1"`,
		"{\"a\": 1 \"b\"}":            `m.json:1:9: not valid JSON: '"' stands where a comma or } is expected`,
		"[1 2]":                       `m.json:1:4: not valid JSON: '2' stands where a comma or ] is expected: "[1 2"`,
		"{\"a\": x}":                  `m.json:1:7: not valid JSON: 'x' stands where a value is expected`,
		"{} {}":                       `m.json:1:4: not valid JSON: '{' stands where the end of the file is expected`,
		"{\n\"a\":":                   `m.json:2:4: not valid JSON: the file ends within an object, an array or a text: "\"a\":"`,
		"":                            `m.json:1:1: not valid JSON: the file ends within`,
		"{\n\"a\": \"b\nc\"}":         `m.json:2:8: not valid JSON: invalid character`,
		"{\"a\": [1,]}":               `remove the comma before this`,
		strings.Repeat(" ", 99) + "x": `m.json:1:100: not valid JSON: 'x' stands where a value is expected: "x"`,
	} {
		_, err := locate(t.Context(), "m.json", []byte(text), limits{bytes: 1 << 20, depth: 10, index: 1 << 20, nodes: 10})
		if e := (*ir.Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Error()+e.Help, want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}
