// Package enum gives enumerations their texts: one list of names serves String, Parse, and the help
// of their errors.
package enum

import (
	"fmt"
	"slices"
	"strings"
)

// Type has the texts of an enumeration's values 0, 1, ...
type Type[E ~uint8] struct {
	what  string // "rounding"
	names []string
}

// Of is the enumeration of these texts. Errors name it by its first argument.
func Of[E ~uint8](what string, names ...string) Type[E] { return Type[E]{what, names} }

// Name is the text of a value; of one that is out of range, its number.
func (t Type[E]) Name(e E) string {
	if int(e) < len(t.names) {
		return t.names[e]
	}
	return fmt.Sprint(uint8(e))
}

// Parse is the inverse of Name. Its error is an *Unknown.
func (t Type[E]) Parse(text string) (E, error) {
	if i := slices.Index(t.names, text); i >= 0 {
		return E(i), nil
	}
	return 0, &Unknown{What: t.what, Text: text, Names: t.names}
}

// All lists the values that have a text.
func (t Type[E]) All() []E {
	out := make([]E, len(t.names))
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
