// Package human writes quantities for people, the same everywhere.
package human

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bytes is a size: in bytes as long as these have at most five digits, else in KiB or MiB.
func Bytes(n int64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case n >= 10*mib:
		return fmt.Sprintf("%.1f MiB", float64(n)/mib)
	case n >= 10*kib:
		return fmt.Sprintf("%.1f KiB", float64(n)/kib)
	}
	return fmt.Sprintf("%d B", n)
}

// Rate is a number of operations in a unit of cost: with one decimal, or, below 1, with two digits, so that none becomes 0.
func Rate(v float64) string {
	if v > 0 && v < 1 {
		return fmt.Sprintf("%.2g", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// Count is a number with its noun, in the plural unless the number is 1: "1 picture", "2 classes", "0 entries".
func Count[T int | int32 | int64](n T, noun string) string {
	return fmt.Sprintf("%d %s", n, Plural(n, noun))
}

// Plural is the noun as it stands behind a number.
func Plural[T int | int32 | int64](n T, noun string) string {
	if n == 1 {
		return noun
	}
	const vowels = "aeiou"
	switch stem, y := strings.CutSuffix(noun, "y"); {
	case noun == "axis":
		return "axes"
	case noun == "index":
		return "indices"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "sh"):
		return noun + "es"
	case y && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], vowels):
		return stem + "ies"
	}
	return noun + "s"
}

// Grouped is a number with commas between groups of three digits, such as 1,234,567.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	first := 0 // of the digits, behind the sign
	if n < 0 {
		first = 1
	}
	const group = 3
	for at := len(digits) - group; at > first; at -= group {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// ShortName is a name in at most width characters: the middle of a longer one is left out. Names that are paths differ at their ends.
func ShortName(name string, width int) string {
	runes := []rune(name)
	if len(runes) <= width || width < 1 {
		return name
	}
	head := (width - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-1-head):])
}

// Footnotes are texts that the rows of a table refer to by numbers, from 1. A text that several rows have is there once.
type Footnotes []string

// Refer returns the number of a text.
func (f *Footnotes) Refer(text string) int {
	i := slices.Index(*f, text)
	if i < 0 {
		i = len(*f)
		*f = append(*f, text)
	}
	return i + 1
}
