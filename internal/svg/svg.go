// Package svg checks pictures before they are written.
package svg

import (
	"fmt"
	"regexp"
)

// bad finds an attribute, in a picture or in a page of HTML, with a number that is not finite as Go
// prints it.
var bad = regexp.MustCompile(`[\w-]+="[^"<>]*(?:\bNaN\b|[+-]Inf\b)[^"<>]*"`)

// Finite fails if an attribute of a picture, such as a coordinate, is NaN or infinite. Browsers
// then silently draw nothing. Text outside of attributes is not checked.
func Finite(picture []byte) error {
	const shown = 80
	if at := bad.FindIndex(picture); at != nil {
		text := picture[at[0]:min(at[1], at[0]+shown)]
		return fmt.Errorf("internal error: a picture has a number that is not finite: %s", text)
	}
	return nil
}
