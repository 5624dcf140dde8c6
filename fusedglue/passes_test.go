package fusedglue

import (
	"slices"
	"testing"
)

func TestPassTable(t *testing.T) {
	var names []string
	for _, p := range Passes() {
		if slices.Contains(names, p.Name) || p.Doc == "" {
			t.Errorf("pass %q is listed twice or has no description", p.Name)
		}
		names = append(names, p.Name)
	}
	for _, o := range order() {
		a, b := slices.Index(names, o[0]), slices.Index(names, o[1])
		if a < 0 || b < 0 || a >= b || o[2] == "" {
			t.Errorf("%v: positions %d and %d", o, a, b)
		}
	}
}
