// Package section replaces a part of a page that a command or a test makes, which stands between
// two lines of marks.
package section

import (
	"fmt"
	"strings"
)

// Replace gives the page with text, which ends in a new line, between the lines begin and end. It
// fails where the page lacks one of them.
func Replace(page, begin, end, text string) (string, error) {
	before, rest, ok1 := strings.Cut(page, begin+"\n")
	_, after, ok2 := strings.Cut(rest, end+"\n")
	if !ok1 || !ok2 {
		return "", fmt.Errorf("no lines %q and %q", begin, end)
	}
	return before + begin + "\n" + text + end + "\n" + after, nil
}
