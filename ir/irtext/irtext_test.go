package irtext_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ripc/internal/golden"
	"ripc/internal/irgen"
	"ripc/ir"
	"ripc/ir/irtext"
)

// print is the text of all of f.
func print(f *irtext.File) string {
	if f.Program != nil {
		return f.Program.String()
	}
	var out []string
	for _, fn := range f.Funcs {
		out = append(out, fn.String())
	}
	return strings.Join(out, "")
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestRoundTrip(t *testing.T) {
	src := read(t, "testdata/conv.ripir")
	f, err := irtext.ParseFunc("conv.ripir", src)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(src), f.String()); d != "" {
		t.Errorf("printed again (-want +got):\n%s", d)
	}
	if err := ir.Verify(f); err != nil {
		t.Error(err)
	}
}

// TestOver: an output that may lie over an input.
func TestOver(t *testing.T) {
	const text = `func @f(%x: f32[8], out %y: f32[8] over %x) {
  for %i in 0:8 {
    %y[%i] = %x[%i]
  }
}
`
	f, err := irtext.ParseFunc("f.ripir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(text, f.String()); d != "" || f.Params[1].Over != "x" {
		t.Errorf("over %q, printed again (-want +got):\n%s", f.Params[1].Over, d)
	}
	if _, err := irtext.ParseFunc("f.ripir", []byte("func @f(%x: f32, out %y: f32 over) { }")); err == nil || !strings.Contains(err.Error(), "the input that the output may replace") {
		t.Error(err)
	}
}

// TestRoles: roles are read and printed, and are no part of a Func's meaning.
func TestRoles(t *testing.T) {
	for r := ir.RolePad; r <= ir.RoleMean; r++ {
		text := "func @f(out %y: f32[2]) {\n  alloc %s: f32[2] role=" + r.String() + "\n  %s[0] = 1.0\n  %y[0] = %s[0]\n}\n"
		m, err := irtext.Parse("a", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		f := m.Funcs[0]
		if f.Buffers()["s"].Role != r || f.String() != text || f.Meaning() != strings.Replace(text, " role="+r.String(), "", 1) {
			t.Errorf("%s\n%s\n%s", text, f, f.Meaning())
		}
	}
	if _, err := irtext.Parse("a", []byte("func @f(out %y: f32[2]) {\n  alloc %s: i32[2] role=none\n}\n")); err == nil || !strings.Contains(err.Error(), `unknown role "none"`) {
		t.Error(err)
	}
}

func TestProgramRoundTrip(t *testing.T) {
	src := read(t, "testdata/program.ripir")
	f, err := irtext.Parse("program.ripir", src)
	if err != nil {
		t.Fatal(err)
	}
	for what, d := range map[string][]byte{"wrong": {1, 2}, "missing": nil} {
		data := map[string][]byte{"w": d}
		if what == "missing" {
			data = nil
		}
		var e *ir.Error
		if err := f.Bind(data); !errors.As(err, &e) || f.Program.BufferByName("w").Data != nil {
			t.Errorf("%s contents: %v", what, err)
		}
	}
	if err := f.Bind(map[string][]byte{"w": {1, 2, 3, 4, 5, 6, 7, 8}}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(src), f.Program.String()); d != "" {
		t.Errorf("printed again (-want +got):\n%s", d)
	}
	if err := ir.VerifyProgram(f.Program); err != nil {
		t.Error(err)
	}
	g, err := irtext.ParseProgram("", src)
	if err != nil || len(g.Funcs) != 2 {
		t.Errorf("ParseProgram: %v, %v", g, err)
	}
}

// Scales are read back exactly.
func TestLevels(t *testing.T) {
	for _, scale := range []float64{1, 0.1, 1.0 / 3, 2.0 / 255, -1e300, math.SmallestNonzeroFloat64} {
		p := &ir.Program{Name: "p", Buffers: []ir.ProgBuf{{
			Buffer: ir.Buffer{Name: "x", Type: ir.U8, Shape: []int{4}}, Levels: ir.Levels{Kind: ir.BipolarInv, Bits: 3, Scale: scale},
		}, {
			Buffer: ir.Buffer{Name: "words", Type: ir.I32, Shape: []int{1, 2}}, Levels: ir.Levels{Kind: ir.BipolarInv, Bits: 1, Scale: scale, Channels: 40},
		}}}
		got, err := irtext.ParseProgram("", []byte(p.String()))
		if err != nil {
			t.Fatalf("%v\n%s", err, p)
		}
		if d := cmp.Diff(p, got); d != "" {
			t.Errorf("(-printed +parsed):\n%s\n%s", d, p)
		}
	}
}

func TestRandomFuncsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := irgen.Func(t)
		text := f.String()
		g, err := irtext.ParseFunc("random.ripir", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if d := cmp.Diff(f, g); d != "" {
			t.Fatalf("(-drawn +parsed):\n%s\n%s", d, text)
		}
		if d := cmp.Diff(text, g.String()); d != "" {
			t.Fatalf("(-text +printed again):\n%s", d)
		}
	})
}

// Any layout of the text gives the same func.
func TestSpacing(t *testing.T) {
	src := "// RUN: split i 4\nfunc@f(out%y:i32[16]){for%i in 0:16{ // all\n%y[%i]=cast<i32>(%i%4+2*%i)}}//end"
	f, err := irtext.Parse("", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := "func @f(out %y: i32[16]) {\n  for %i in 0:16 {\n    // all\n    %y[%i] = cast<i32>(%i % 4 + 2 * %i)\n  }\n}\n"
	if d := cmp.Diff(want, print(f)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"RUN: split i 4", "end"}, f.Comments); d != "" {
		t.Errorf("comments (-want +got):\n%s", d)
	}
}

func TestParseExpr(t *testing.T) {
	bufs := map[string]ir.Buffer{"x": {Name: "x", Type: ir.U8, Shape: []int{4}}, "s": {Name: "s", Type: ir.F32}}
	tests := []struct{ src, want string }{
		{"1+2*3", "1 + 2 * 3"},
		{"(1+2)*3", "(1 + 2) * 3"},
		{"1-(2-3)", "1 - (2 - 3)"},
		{"(1-2)-3", "1 - 2 - 3"},
		{"%x[%i] & 1u8 | 2u8 ^ 3u8", "%x[%i] & 1u8 | 2u8 ^ 3u8"},
		{"~~%x[0] << 1u8", "~~%x[0] << 1u8"},
		{"~(%x[0] << 1u8)", "~(%x[0] << 1u8)"},
		{"%i < 3 == true", "%i < 3 == true"},
		{"%i - -9223372036854775808", "%i - -9223372036854775808"},
		{"18446744073709551615u64", "18446744073709551615u64"},
		{"%s*1e10 + nan - -inf", "%s * 1e+10 + nan - -inf"},
		{"0x1", ""}, {"256u8", ""}, {"-1u8", ""}, {"1.5i32", ""}, {"1e99", ""}, {"%x", ""}, {"%i[0]", ""}, {"%s[0]", ""},
		{"%x[0] + 1", ""}, {"%i/%i", ""}, {"%i/0", ""}, {"-%i", ""}, {"~1.5", ""}, {"min(1)", ""}, {"fma(1, 2, 3)", ""},
		{"select(1, 2, 3)", ""}, {"popcount(1.5)", ""}, {"cast<bool>(1)", ""}, {"bitcast<u8>(1)", ""}, {"cast<i31>(1)", ""},
		{"sin(1.5)", ""}, {"1 2", ""}, {"(1", ""}, {"", ""}, {"%x[1.5]", ""}, {"1u8 << 8u8", ""}, {"$", ""}, {"@", ""}, {"\"a", ""},
	}
	for _, tt := range tests {
		e, err := irtext.ParseExpr(tt.src, bufs)
		switch {
		case tt.want == "" && err == nil:
			t.Errorf("%q gives %s; want an error", tt.src, ir.ExprString(e))
		case tt.want != "" && err != nil:
			t.Errorf("%q: %v", tt.src, err)
		case tt.want != "" && ir.ExprString(e) != tt.want:
			t.Errorf("%q gives %s; want %s", tt.src, ir.ExprString(e), tt.want)
		}
	}
}

// Each file of testdata/errors has cases divided by lines of dashes; beside it, what is said about each.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.ripir")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ripir"), func(t *testing.T) {
			var out strings.Builder
			for _, src := range strings.Split(string(read(t, file)), "--------\n") {
				f, err := irtext.Parse("f.ripir", []byte(src))
				var e *ir.Error
				if !errors.As(err, &e) {
					t.Errorf("no *ir.Error but %v, %v for:\n%s", err, f, src)
					continue
				}
				fmt.Fprintf(&out, "%s\n", err)
			}
			golden.Check(t, strings.TrimSuffix(file, ".ripir")+".txt", []byte(out.String()))
		})
	}
}

func TestHostileInput(t *testing.T) {
	deep := strings.Repeat
	for what, src := range map[string]string{
		"parentheses": "func @f(out %y: i64) { %y = " + deep("(", 1e6),
		"tildes":      "func @f(out %y: i64) { %y = " + deep("~", 1e6),
		"blocks":      "func @f() {" + deep("{", 1e6),
		"sum":         "func @f(out %y: i64) { %y = 1" + deep("+1", 1e6),
		"indices":     "func @f(out %y: i64[2]) { " + deep("%y[", 1e6),
		"size":        "func @f(out %y: i64[1000000000, 1000000000, 1000000000]) { }",
		"extent":      "func @f() { for %i in 0:99999999999999999999 { } }",
		"long":        deep(" ", 65<<20),
	} {
		var e *ir.Error
		if _, err := irtext.Parse("", []byte(src)); !errors.As(err, &e) {
			t.Errorf("%s: %v; want a refusal", what, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.ripir")
	more, _ := filepath.Glob("testdata/errors/*.ripir")
	for _, file := range append(files, more...) {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(src), "--------\n") {
			f.Add(part)
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		one, err := irtext.Parse("a", []byte(src))
		if err != nil {
			return
		}
		text := print(one)
		two, err := irtext.Parse("b", []byte(text))
		if err != nil {
			t.Fatalf("%v\nof what was printed for %q:\n%s", err, src, text)
		}
		if again := print(two); again != text {
			t.Fatalf("printing is not stable (-once +twice):\n%s", cmp.Diff(text, again))
		}
		for _, fn := range one.Funcs {
			_ = ir.Verify(fn) // must not panic
		}
	})
}
