package terminal_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"ripc/internal/terminal"
)

func TestClean(t *testing.T) {
	for s, want := range map[string]string{
		"":                  "",
		"é 猫/:%":            "é 猫/:%",
		"a\x1b[2Jb":         "a?[2Jb",
		"\u009b2J":          "?2J",
		"a\r\nb\tc\x7f\x00": "a??b?c??",
		"\xff\xc3":          "??",
		"abc\u202edef":      "abc?def",
	} {
		if got := terminal.Clean(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
	if got, want := terminal.Lines("a\tb\n\x1b[2J\n"), "a    b\n?[2J\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for n, want := range map[int]string{20: "né\u0301e?", 2: "n ...", 3: "né ...", 0: " ..."} {
		if got := terminal.Cut("né\u0301e\x1b", n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestCleanAll(t *testing.T) {
	type inner struct{ A string }
	bad, good := "a\x1b[2J\tb\n"+strings.Repeat("c", 20), "a?[2J    b\ncc ..."
	v := struct {
		S string
		P *inner
		N *inner
		L []inner
		M map[string]inner
		B []byte
		I int
		T []string
	}{bad, &inner{bad}, nil, []inner{{bad}}, map[string]inner{"k": {bad}}, []byte(bad), 7, []string{bad}}
	terminal.CleanAll(&v, 10)
	for i, s := range []string{v.S, v.P.A, v.L[0].A, v.M["k"].A, v.T[0]} {
		if s != good {
			t.Errorf("%d: %q, want %q", i, s, good)
		}
	}
	if string(v.B) != bad || v.I != 7 || v.N != nil {
		t.Errorf("%+v", v)
	}
}

// TestWriter writes any text in pieces of any length: what a terminal shows stays the same, and it obeys nothing.
func TestWriter(t *testing.T) {
	text := "plain é猫\U0001f600 \ttab\n \x1b[31mred\x1b[0m \r \u009b2J \u202e \xff\xfe end \xe7"
	want := "plain é猫\U0001f600 \ttab\n ?[31mred?[0m ? ?2J ? ?? end "
	for n := 1; n <= len(text); n++ {
		var out bytes.Buffer
		w := terminal.NewWriter(&out)
		for i := 0; i < len(text); i += n {
			piece := []byte(text[i:min(i+n, len(text))])
			if k, err := w.Write(piece); err != nil || k != len(piece) {
				t.Fatal(k, err)
			}
		}
		if out.String() != want {
			t.Errorf("pieces of %d: %q, want %q", n, out.String(), want)
		}
		if terminal.Destination(w) != &out {
			t.Error("below is another")
		}
	}
}

// TestJSONWriter: values stay the same.
func TestJSONWriter(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x3000; r++ {
		all.WriteRune(r)
	}
	var out bytes.Buffer
	if err := json.NewEncoder(terminal.NewJSONWriter(&out)).Encode(all.String()); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got != all.String() {
		t.Errorf("%v, the value is another", err)
	}
	if i := strings.IndexFunc(strings.TrimSuffix(out.String(), "\n"), unicode.IsControl); i >= 0 || !utf8.Valid(out.Bytes()) {
		t.Errorf("a control character at %d", i)
	}
}
