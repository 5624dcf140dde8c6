package lower

import (
	"testing"

	"ripc/internal/passorder"
)

// TestPasses: each pass runs once, and before those that build on it.
func TestPasses(t *testing.T) {
	if err := passorder.Check(passorder.Names(passes()), order()); err != nil {
		t.Error(err)
	}
	for _, p := range passes() {
		if p.Doc == "" {
			t.Errorf("nobody says what pass %s does", p.Name)
		}
	}
}
