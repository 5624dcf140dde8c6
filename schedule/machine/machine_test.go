package machine_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/schedule/machine"
	"ripc/targets"
)

// TestFit finds the prices that made costs, those that are 0 too.
func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "terms")
		price := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 0.5, 1, 3, 20}), n, n).Draw(t, "prices")
		price[0] = 2
		var samples []machine.Sample
		for i := range 8 * n {
			s := machine.Sample{Counts: make([]float64, n)}
			for j := range n {
				s.Counts[j] = float64(rapid.IntRange(0, 100).Draw(t, "count"))
				if j == i%n { // every term has its say
					s.Counts[j] += 200
				}
				s.Cost += price[j] * s.Counts[j]
			}
			if s.Cost > 0 {
				samples = append(samples, s)
			}
		}
		for j, x := range machine.Fit(samples) {
			if x < 0 || math.Abs(x-price[j]) > 1e-3*(1+price[j]) {
				t.Errorf("price %d is %v, found %v", j, price[j], x)
			}
		}
	})
}

// TestData: every file is of a target, names only what is counted, and says where it is from and how good it is.
func TestData(t *testing.T) {
	all, err := filepath.Glob("data/*.json")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, path := range all {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		like, _, _ := strings.Cut(strings.TrimPrefix(name, targets.HostName+"-"), "-dots") // of a family of hosts
		target, err := targets.Lookup(like)
		if err != nil {
			t.Error(err)
			continue
		}
		m, err := machine.Read(os.DirFS("data"), name, target)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if m.Target != name || m.Unit == "" || m.Date == "" || m.Commit == "" || m.Tool == "" || m.Points == 0 || m.Error.P90 == 0 || m.Choice.Networks == 0 || m.Choice.Mean < 1 {
			t.Errorf("%s: %+v", path, m.Weights)
		}
	}
	unknown := targets.Target{Name: "none"}
	if _, ok, err := machine.Of(unknown); ok || err != nil {
		t.Errorf("weights of no machine: %v, %v", ok, err)
	}
	if _, err := machine.New(unknown, machine.Weights{Target: "none", Terms: map[string]float64{"op.none": 1}}); err == nil || !strings.Contains(err.Error(), "op.none") {
		t.Errorf("a term that is not counted: %v", err)
	}
}
