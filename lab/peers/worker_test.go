package peers

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ripc/measure/limits"
)

// fake is the command of a worker that greets like this and then answers each order.
func fake(greeting, answer string) []string {
	return []string{"sh", "-c", `echo "$1"; while read order; do echo "$2"; done`, "sh", greeting, answer}
}

// TestWorker: runs come back, a held worker goes on when it is released, and what goes wrong is said.
func TestWorker(t *testing.T) {
	w, err := start(t.Context(), Entry{Engine: "fake"}, fake(`{"version": "fake 1", "sample": [1, 2]}`, `{"ns": [1000, 3000]}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.hold(); err != nil {
		t.Fatal(err)
	}
	if err := w.release(); err != nil {
		t.Fatal(err)
	}
	times, err := w.run(2)
	if err != nil || len(times) != 2 || times[1] != 3*time.Microsecond || w.Version != "fake 1" {
		t.Errorf("%v, %v, %q", times, err, w.Version)
	}
	if _, err := w.run(5); err == nil {
		t.Error("2 times are not those of 5 runs")
	}
	if err := w.stop(); err != nil {
		t.Error(err)
	}
	if _, err := w.run(2); err == nil {
		t.Error("a worker that has ended runs")
	}

	text, err := json.Marshal(greeting{Sample: numbers{1, math.NaN(), math.Inf(1)}})
	if err != nil || string(text) != `{"sample":[1,null,null]}` {
		t.Errorf("%s, %v", text, err)
	}
	if odd, err := start(t.Context(), Entry{}, fake(string(text), ""), 1); err != nil || odd.Sample[0] != 1 || !math.IsNaN(odd.Sample[1]) {
		t.Errorf("%+v, %v", odd, err)
	} else if err := odd.stop(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		command []string
		why     string
	}{
		{fake(`{"error": "no such operator"}`, ""), "no such operator"},
		{[]string{"sh", "-c", "echo a library is missing >&2; exit 1"}, "a library is missing"},
	} {
		_, err := start(t.Context(), Entry{}, c.command, 1)
		if unfit := (*unfitError)(nil); !errors.As(err, &unfit) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v, want %q", err, c.why)
		}
	}
}

// TestCheck: an engine that runs another network than it claims is found out.
func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "m.onnx")
	if err := os.WriteFile(file+".json", []byte(`{"inputs": [[1, 3]], "outputs": [[1, 2]], "macs": {"fp32": 4, "int8": 2}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	peer := func(in, out []int, sample ...float64) *worker {
		return &worker{entry: Entry{Env: "onnx"}, greeting: greeting{Inputs: [][]int{in}, Outputs: [][]int{out}, Sample: sample}}
	}
	own := &worker{greeting: greeting{MACs: 6, Products: map[string]int64{"": 6}, Sample: []float64{1, 2}}}
	for _, c := range []struct {
		name string
		w    *worker
		macs int64
		why  string
	}{
		{"right", peer([]int{1, 3}, []int{1, 2}, 1, 2), 6, ""},
		{"another input", peer([]int{1, 4}, []int{1, 2}, 1, 2), 6, "it has inputs [[1 4]]"},
		{"another output", peer([]int{1, 3}, []int{2}, 1, 2), 6, "outputs [[2]]"},
		{"too small", peer([]int{1, 3}, []int{1, 2}, 1, 2), 7, "it has 6 multiply-adds, want 7"},
		{"too large", peer([]int{1, 3}, []int{1, 2}, 1, 2), 5, "it has 6 multiply-adds, want 5"},
		{"dead", peer([]int{1, 3}, []int{1, 2}, 0, 0), 6, "all of its outputs are 0"},
		{"an algorithm that is not known", own, 6, `no limit "" is known`},
	} {
		why := c.w.check(Subject{MACs: c.macs}, file)
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", c.name, why, c.why)
		}
	}
}

// TestDiffers: results are compared with those of the same name, and small differences pass.
func TestDiffers(t *testing.T) {
	w := func(agrees string, sample ...float64) *worker {
		return &worker{entry: Entry{Engine: "E", Agrees: agrees}, greeting: greeting{Sample: sample}}
	}
	have := []*worker{w("f32", 100, -1), w("lce", 5, 5)}
	for _, c := range []struct {
		w  *worker
		ok bool
	}{
		{w("f32", 100.05, -1.02), true}, {w("f32", 100, -1.2), false}, {w("f32", 100), false}, {w("", 1, 2), true}, {w("lce", 5, 5), true},
	} {
		if why := differs(have, c.w); (why == "") != c.ok {
			t.Errorf("%v: %q", c.w.Sample, why)
		}
	}
	nan := 0.0
	if why := differs(have, w("f32", nan/nan, -1)); why == "" {
		t.Error("NaN agrees with a number")
	}
}

// TestReached: the highest rate counts, and a clock that was disturbed does not.
func TestReached(t *testing.T) {
	v := reached([]limits.Rate{{PerSecond: 4, PerCycle: 9e9, GHz: 0.1}, {PerSecond: 8, PerCycle: 2, GHz: 4}, {PerSecond: 7, PerCycle: 3, GHz: 3}})
	if v["max_macs_per_second"] != 8 || v["macs_per_cycle"] != 3 || v["clock_ghz"] != 3 {
		t.Errorf("%v", v)
	}
}
