package guests_test

import (
	"testing"

	"ripc/targets/guests"
)

// TestDebian: every guest's architecture has its own name in Debian, since make release names packages by it.
func TestDebian(t *testing.T) {
	seen := map[string]bool{"": true}
	for _, g := range guests.All() {
		if seen[g.Debian] {
			t.Errorf("%s is called %q in Debian, as another one or as none", g.Arch, g.Debian)
		}
		seen[g.Debian] = true
	}
}
