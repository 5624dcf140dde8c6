package schedule_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ripc/schedule"
)

func TestParseStep(t *testing.T) {
	for text, want := range map[string]schedule.Step{
		"unroll w.i":              {Op: "unroll", Args: []string{"w.i"}},
		"vectorize acc.o*":        {Op: "vectorize", Args: []string{"acc.o*"}},
		"split h 4 -> a b":        {Op: "split", Args: []string{"h", "4"}, Results: []string{"a", "b"}},
		"  split\th 4  tail=cut ": {Op: "split", Args: []string{"h", "4"}, KV: []schedule.Option{{Key: "tail", Value: "cut"}}},
	} {
		got, err := schedule.ParseStep(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
		if back := strings.Join(strings.Fields(text), " "); got.String() != back {
			t.Errorf("%q prints as %q", text, got)
		}
	}
	for text, want := range map[string]string{
		"":                         "empty step",
		"7 w":                      `"7" is not the name of an operation`,
		"unroll %w":                `operand "%w" is neither a name nor a number`,
		"split h 4 ->":             "no results after ->",
		"split h 4 -> a -> b":      "two arrows",
		"split h 4 -> a*":          `result "a*" is not a name`,
		"split h tail=cut 4":       `operand "4" follows an option`,
		"split h 4 tail=a tail=b":  "option tail is given twice",
		"split h 4 tail=":          `option "tail=" is not of the form key=value`,
		"split h 4 =x":             `option "=x" is not of the form key=value`,
		"split h 4 tail=cut->h.o ": `option "tail=cut->h.o" is not of the form key=value`,
	} {
		if _, err := schedule.ParseStep(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestParseTrace(t *testing.T) {
	tr, err := schedule.ParseTrace("f.trace", "# tiles\nsplit h 4 # four rows\n\n unroll h.i; vectorize l\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := "split h 4\nunroll h.i\nvectorize l\n"; tr.String() != want {
		t.Errorf("got %q, want %q", tr, want)
	}
	_, err = schedule.ParseTrace("f.trace", "unroll h\nunroll %w\n")
	if want := `f.trace:2: unroll %w: operand "%w" is neither a name nor a number`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func FuzzParseStep(f *testing.F) {
	f.Add("split h 4 tail=guard -> h.o h.i")
	f.Add("vectorize acc.o* ; unroll w")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schedule.ParseStep(text)
		if err != nil {
			return
		}
		back, err := schedule.ParseStep(s.String())
		if err != nil || !cmp.Equal(s, back) {
			t.Errorf("%q prints as %q and reads back as %v, %v", text, s, back, err)
		}
	})
}
