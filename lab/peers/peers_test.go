package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ripc/internal/golden"
	"ripc/lab/figures"
	"ripc/measure/limits"
)

// TestPage: page and picture of a small run, made up, with everything that may be missing.
func TestPage(t *testing.T) {
	s, err := figures.Open("testdata/small.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	entries := []Entry{{Engine: "ripc, 1 bit"}, {Engine: "Engine <x>, fp32"}, {Engine: "Serial, int8"}}
	r := &results{s, []Subject{{Name: "conv", What: "3x3 convolution", MACs: 100_000_000, Entries: entries}, {Name: "nothing", What: "a network that no engine runs", MACs: 1, Entries: entries}},
		[]limits.Kernel{{Limit: "bits", Name: "count", What: "xor, count, add"}, {Limit: "fp32", Name: "fma", What: "fma"}}}
	golden.Check(t, "testdata/small.md", []byte(r.page("small")))
	golden.Check(t, "testdata/small.svg", []byte(r.bars()))
}

// TestValues: the shortest and the middle time.
func TestValues(t *testing.T) {
	w := &worker{times: []time.Duration{4e6, 1e6, 9e6, 3e6}, greeting: greeting{Products: map[string]int64{"bits": 7}}}
	if v := w.values(); v["min_ms"] != 1 || v["median_ms"] != 3 || v["runs"] != 4 || v["bits_products"] != 7 {
		t.Errorf("%v", v)
	}
}

// TestBound: products of several kinds are done one after the other, each at its best rate with the number of threads.
func TestBound(t *testing.T) {
	r := &results{kernels: []limits.Kernel{{Limit: "fp32", Name: "a"}, {Limit: "fp32", Name: "b"}, {Limit: "bits", Name: "c"}}}
	var all []figures.Figure
	for _, l := range []struct {
		kernel  string
		threads int
		rate    float64
	}{{"a", 1, 1e9}, {"b", 1, 2e9}, {"c", 1, 1e12}, {"a", 2, 3e9}} {
		all = append(all, figures.Figure{Key: figures.Key{Subject: limitSubject, Variant: l.kernel, Threads: l.threads}, Values: map[string]float64{"max_macs_per_second": l.rate}})
	}
	r.Store = figures.New(all...)
	for _, c := range []struct {
		values  map[string]float64
		threads int
		ms      float64
	}{
		{map[string]float64{"fp32_products": 2e6, "bits_products": 1e9, "int8_products": 0}, 1, 2}, {map[string]float64{"fp32_products": 3e6}, 2, 1}, {map[string]float64{"int8_products": 1}, 1, 0},
	} {
		if ms := r.boundMS(&figures.Figure{Key: figures.Key{Threads: c.threads}, Values: c.values}); ms != c.ms {
			t.Errorf("%v, threads: %d: %v ms, want %v", c.values, c.threads, ms, c.ms)
		}
	}
}

// TestSubjects: names tell subjects and entries apart, own models are there, and entries know their environment.
func TestSubjects(t *testing.T) {
	names := map[string]bool{}
	for _, s := range subjects() {
		for _, e := range s.Entries {
			if names[s.Name+"/"+e.Engine] {
				t.Errorf("%s has %q twice", s.Name, e.Engine)
			}
			names[s.Name+"/"+e.Engine] = true
			if e.Own {
				if _, err := os.Stat(filepath.Join("..", "..", e.Model)); err != nil {
					t.Error(err)
				}
			}
			known := e.Env == ""
			for _, file := range []string{"python/requirements-" + e.Env + ".txt", "python/models_" + e.Env + ".py"} {
				_, err := os.Stat(file)
				known = known || err == nil
			}
			if !known || (e.Env == "") != (e.Worker == "") {
				t.Errorf("%s, %s: environment %q, worker %q", s.Name, e.Engine, e.Env, e.Worker)
			}
		}
	}
}

// TestSetUp: what cannot be installed is named with the reason, and nothing else stops.
func TestSetUp(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:/bin") // without uv
	out, err := exec.Command("../../scripts/setup-peers.sh", t.TempDir(), "no-such-python").Output()
	if want := "lacking onnx: no Python 3.11 with venv (tried no-such-python)"; err != nil || strings.Count(string(out), "lacking ") != 3 || !strings.Contains(string(out), want) {
		t.Errorf("%v\n%s", err, out)
	}
}
