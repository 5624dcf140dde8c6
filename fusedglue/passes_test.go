package fusedglue

import (
	"testing"

	"ripc/internal/passorder"
)

func TestPassTable(t *testing.T) {
	if err := passorder.Check(passorder.Names(Passes()), order()); err != nil {
		t.Error(err)
	}
	for _, p := range Passes() {
		if p.Doc == "" {
			t.Errorf("pass %s has no description", p.Name)
		}
	}
}
