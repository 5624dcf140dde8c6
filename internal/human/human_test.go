package human

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestBytes: each unit begins at ten of it.
func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 10239: "10239 B", 10240: "10.0 KiB", 10<<20 - 1: "10240.0 KiB", 10 << 20: "10.0 MiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestGrouped: commas are between groups of three digits, and nowhere else.
func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -999: "-999", -123456: "-123,456", 1234567: "1,234,567"} {
		if got := Grouped(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestShortName: both ends of a long name are left.
func TestShortName(t *testing.T) {
	for width, want := range map[int]string{1: "…", 2: "…g", 5: "ab…fg", 6: "ab…efg", 7: "abcdefg", 8: "abcdefg"} {
		if got := ShortName("abcdefg", width); got != want {
			t.Errorf("of %d characters: %q, want %q", width, got, want)
		}
	}
}

// TestShortNames: names of one length limit stay different, and are shown by what tells them apart.
func TestShortNames(t *testing.T) {
	long := func(block string) string { return "model/backbone/stage2/" + block + "/conv/quantized/output" }
	got := ShortNames([]string{long("block1"), long("block2"), "conv", long("block1")}, 24)
	for i, want := range []string{"block1", "block2", "conv", "block1"} {
		if len([]rune(got[i])) > 24 || !strings.Contains(got[i], want[len(want)-1:]) {
			t.Errorf("%q is no name of 24 characters with %q", got[i], want)
		}
	}
	if got[0] == got[1] || got[0] != got[3] {
		t.Errorf("%q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`(model|net)(/(block[0-9]|a|bb|conv_with_a_long_name)){1,8}/(out|sum)`), 1, 12).Draw(t, "names")
		width := rapid.IntRange(10, 40).Draw(t, "width")
		short := ShortNames(names, width)
		for i := range names {
			if n := len([]rune(short[i])); n > width {
				t.Fatalf("%q has %d characters, %d at most", short[i], n, width)
			}
			for j := range names {
				if (names[i] == names[j]) != (short[i] == short[j]) {
					t.Fatalf("%q and %q are %q and %q in %d characters", names[i], names[j], short[i], short[j], width)
				}
			}
		}
	})
}

// TestFootnotes: equal texts have one number.
func TestFootnotes(t *testing.T) {
	var f Footnotes
	for i, text := range []string{"a", "b", "a"} {
		if got, want := f.Refer(text), []int{1, 2, 1}[i]; got != want {
			t.Errorf("%q is note %d, want %d", text, got, want)
		}
	}
	if len(f) != 2 {
		t.Errorf("%q", f)
	}
}

// TestRate: small rates keep digits.
func TestRate(t *testing.T) {
	for v, want := range map[float64]string{0: "0.0", 0.0328: "0.033", 0.84: "0.84", 1: "1.0", 12.34: "12.3", 1234: "1234.0"} {
		if got := Rate(v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
}
