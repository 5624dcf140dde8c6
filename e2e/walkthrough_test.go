package e2e_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/lower/layout"
	"ripc/schedule"
)

// TestWalkthrough checks the listings of docs/walkthrough.md that need no LLVM: each must be what ripc prints now, but for
// the lines that "..." stands for. The script that writes the page decides what to leave out.
func TestWalkthrough(t *testing.T) {
	t.Parallel()
	const (
		page  = "../docs/walkthrough.md"
		model = "../examples/digits/digits.json"
	)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	full := map[string]string{"json": string(source)}
	o := ripc.Options{Target: "rpi3", Algorithms: map[string]layout.Algorithm{"conv2": layout.Popcount}, Observe: func(stage string, text func() string) { full[stage] = text() }}
	in, err := ripc.Inspect(context.Background(), model, o, "conv2", true)
	if err != nil {
		t.Fatal(err)
	}
	layer := in.Layers[0]
	full["trace"] = strings.Join(layer.Trace, "\n") + "\n"
	full["before"], full["after"] = layer.Before, layer.After

	shown := listings(string(text))
	for _, name := range []string{"json", "import", "fusedglue", "before", "trace", "after"} {
		whole := name == "before" || name == "trace" || name == "after"
		switch {
		case shown[name] == "":
			t.Errorf("%s has no listing %q; run make build, then scripts/walkthrough.sh", page, name)
		case !excerpt(shown[name], whole).MatchString(unindent(full[name], !whole)):
			t.Errorf("%s: listing %q is out of date; run make build, then scripts/walkthrough.sh\nripc prints\n%s\nthe page has\n%s",
				page, name, full[name], shown[name])
		}
	}
}

// TestScheduleExample checks the trace in docs/schedule.md, where what follows two blanks on a line is a comment, and the loops
// that it is said to give.
func TestScheduleExample(t *testing.T) {
	t.Parallel()
	const page = "../docs/schedule.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for line := range strings.Lines(listings(string(text))["fire4_expand3"]) {
		step, _, _ := strings.Cut(line, "  ")
		shown = append(shown, strings.TrimSpace(step))
	}
	tr, err := schedule.ParseTrace(page, strings.Join(shown, "\n"))
	if err != nil || len(tr) == 0 {
		t.Fatalf("%d steps, %v", len(tr), err)
	}
	o := ripc.Options{Target: "rpi3", Schedules: []schedule.Section{{Name: "bconv2d_a1w1_3x3s1_27x27x32_128", Trace: tr}}}
	in, err := ripc.Inspect(context.Background(), "../examples/squeezenet/squeezenet.json", o, "fire4_expand3", true)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(shown, in.Layers[0].Trace) {
		t.Errorf("the trace of %s was not taken: the layer has\n%s", page, strings.Join(in.Layers[0].Trace, "\n"))
	}
	file, err := ripc.ReadSchedule("../examples/squeezenet/fire4.schedule")
	if err != nil || len(file) != 1 || !slices.Equal(lines(file[0].Trace), shown) {
		t.Errorf("fire4.schedule is not the trace of %s: %v", page, err)
	}
	after := listings(string(text))["fire4_expand3.after"]
	if after == "" || !excerpt(after, false).MatchString(in.Layers[0].After) {
		t.Errorf("%s: the scheduled Func is out of date; ripc prints\n%s", page, in.Layers[0].After)
	}
}

// lines is a trace as ripc inspect prints it.
func lines(tr schedule.Trace) []string {
	return strings.Split(strings.TrimSpace(tr.String()), "\n")
}

// listings finds the code blocks that follow a line "<!-- listing: NAME -->".
func listings(page string) map[string]string {
	found := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)<!-- listing: (\\S+) -->\n```[a-z]*\n(.*?)```\n").FindAllStringSubmatch(page, -1) {
		found[m[1]] = m[2]
	}
	return found
}

// excerpt matches texts of which the lines of shown are a part (or, if whole, all), "..." being any number of lines.
func excerpt(shown string, whole bool) *regexp.Regexp {
	var b strings.Builder
	for _, line := range strings.SplitAfter(shown, "\n") {
		if line == "...\n" {
			b.WriteString(`(?:.*\n)+?`)
		} else {
			b.WriteString(regexp.QuoteMeta(line))
		}
	}
	if whole {
		return regexp.MustCompile(`^` + b.String() + `$`)
	}
	return regexp.MustCompile(`(?m)^` + b.String())
}

// unindent takes the blanks before lines away if yes is set.
func unindent(text string, yes bool) string {
	if !yes {
		return text
	}
	return regexp.MustCompile(`(?m)^ +`).ReplaceAllString(text, "")
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shown string
		whole bool
		want  bool
	}{
		{"a\nb\nc\nd\n", true, true},
		{"a\n...\nd\n", true, true},
		{"a\nb\n...\n", true, true},
		{"b\nc\n", false, true},
		{"b\nc\n", true, false},
		{"a\nc\n", false, false},
		{"a\n...\nb\n", true, false},
	} {
		if got := excerpt(c.shown, c.whole).MatchString("a\nb\nc\nd\n"); got != c.want {
			t.Errorf("%q, whole %v: got %v", c.shown, c.whole, got)
		}
	}
}
