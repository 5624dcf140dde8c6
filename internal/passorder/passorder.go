// Package passorder checks the tables of graph passes: each pass once, and before those that build on it.
package passorder

import (
	"fmt"
	"slices"
)

// Check finds what is wrong with passes that run in this order, nil if nothing is. A rule says which pass must run before
// which, and why.
func Check(passes []string, rules [][3]string) error {
	for i, p := range passes {
		if slices.Contains(passes[:i], p) {
			return fmt.Errorf("pass %s is listed twice", p)
		}
	}
	for _, r := range rules {
		b, a := slices.Index(passes, r[0]), slices.Index(passes, r[1])
		switch {
		case b < 0 || a < 0 || r[2] == "":
			return fmt.Errorf("rule %q before %q: names no two passes, or no reason", r[0], r[1])
		case b >= a:
			return fmt.Errorf("pass %s must run before %s: %s", r[0], r[1], r[2])
		}
	}
	return nil
}
