package measured_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/lower/layout"
	"ripc/schedule/cost/measured"
	"ripc/targets"
)

// TestKept: the file is what Write gives of it, and its layers have the planes that it says.
func TestKept(t *testing.T) {
	all, err := measured.All()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Base(measured.File))
	if err != nil {
		t.Fatal(err)
	}
	if string(measured.Write(all)) != string(text) {
		t.Error("reading and writing changes the file")
	}
	for _, s := range all {
		m, err := targets.Measured(s.Target)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range s.Layers {
			a, x := l.Conv()
			shape := layout.Shape(a, &x, m)
			if shape.ActivationPlanes != int64(l.Activations) || shape.WeightPlanes != int64(l.Weights) || shape.Cols != int64(l.Cols) {
				t.Fatalf("%s: %+v", l, shape)
			}
		}
	}
}

// TestRefusals: what is no measurement is refused, with its line.
func TestRefusals(t *testing.T) {
	for _, text := range []string{
		"6 28 128 128 3 1 1 float 2",
		"on rpi3 2026-11-22 cycles x\n6 28 128 128 3 1 1",
		"on rpi3 2026-11-22 cycles x\n6 28 128 128 3 1 1 float",
		"on rpi3 2026-11-22 cycles x\n6 28 128 x 3 1 1 float 2",
		"on rpi3 2026-11-22 cycles x\n6 28 128 128 3 1 1 float -2",
	} {
		if all, err := measured.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), "layers.txt:") {
			t.Errorf("%q: %+v, %v", text, all, err)
		}
	}
}
