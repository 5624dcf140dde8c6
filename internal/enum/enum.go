// Package enum gives enumerations their texts: one list of names serves String, Parse, and the help
// of their errors.
package enum

import (
	"fmt"
	"slices"
	"strings"
)

// Name is the text of a value, names having those of 0, 1, ...; of one that is out of range, its
// number.
func Name[E ~uint8](names []string, e E) string {
	if int(e) < len(names) {
		return names[e]
	}
	return fmt.Sprint(uint8(e))
}

// Parse is the inverse of Name. Its error is an *Unknown about a text of the given kind.
func Parse[E ~uint8](what string, names []string, text string) (E, error) {
	if i := slices.Index(names, text); i >= 0 {
		return E(i), nil
	}
	return 0, &Unknown{What: what, Text: text, Names: names}
}

// All lists the values that names has a text for.
func All[E ~uint8](names []string) []E {
	out := make([]E, len(names))
	for i := range out {
		out[i] = E(i)
	}
	return out
}

// Unknown is a text that is none of an enumeration's.
type Unknown struct {
	What  string // "rounding"
	Text  string
	Names []string // those that there are
}

// Error names the fault; Help has the alternatives.
func (e *Unknown) Error() string { return fmt.Sprintf("%s %q", e.What, e.Text) }

// Help lists the alternatives.
func (e *Unknown) Help() string {
	if n := len(e.Names); n > 1 {
		return "use " + strings.Join(e.Names[:n-1], ", ") + " or " + e.Names[n-1]
	}
	return "use " + strings.Join(e.Names, "")
}
