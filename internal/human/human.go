// Package human writes quantities for people, the same everywhere.
package human

import (
	"fmt"
	"maps"
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

// Rate is a number of operations in a unit of cost: with one decimal, or, below 1, with two digits,
// so that none becomes 0.
func Rate(v float64) string {
	if v > 0 && v < 1 {
		return fmt.Sprintf("%.2g", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// Count is a number with its noun, in the plural unless the number is 1: "1 picture", "2 classes",
// "0 entries".
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
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "x"), strings.HasSuffix(noun, "ch"),
		strings.HasSuffix(noun, "sh"):
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

// ShortNames shortens names to at most width characters each. Different names stay different if
// width allows it: names with equal ends show the middle.
func ShortNames(names []string, width int) []string {
	short := make([]string, len(names))
	for i, n := range names {
		short[i] = ShortName(n, width)
	}
	for _, rows := range sameTexts(names, short) {
		tellApart(names, short, rows, width)
	}
	// They differ in too many places: numbers distinguish them.
	for _, rows := range sameTexts(names, short) {
		for _, i := range rows {
			mark := fmt.Sprintf("~%d", 1+slices.Index(names, names[i]))
			short[i] = ShortName(names[i], max(1, width-len(mark))) + mark
		}
	}
	return short
}

// sameTexts returns the rows with equal short texts for different names.
func sameTexts(names, short []string) map[string][]int {
	all := map[string][]int{}
	for i, text := range short {
		all[text] = append(all[text], i)
	}
	maps.DeleteFunc(all, func(_ string, rows []int) bool {
		return !slices.ContainsFunc(rows, func(i int) bool { return names[i] != names[rows[0]] })
	})
	return all
}

// tellApart gives such rows other short texts: each shows the part of its name between the ends
// that all of them share.
func tellApart(names, short []string, rows []int, width int) {
	const marks = 2 // where something is left out, on both sides
	head, tail := sharedEnds(names, rows)
	for _, i := range rows {
		runes := []rune(names[i])
		middle := ShortName(string(runes[head:len(runes)-tail]), max(1, width-marks))
		room := max(0, width-len([]rune(middle))-marks)
		before, after := min(head, room/2), min(tail, room-room/2)
		short[i] = ShortName(string(runes[:before])+"…"+middle+"…"+string(runes[len(runes)-after:]), width)
	}
}

// sharedEnds returns the lengths, in characters, of the longest common prefix of the rows' names
// and, behind it, of the longest common suffix.
func sharedEnds(names []string, rows []int) (head, tail int) {
	first := []rune(names[rows[0]])
	head, tail = len(first), len(first)
	for _, i := range rows[1:] {
		runes, n := []rune(names[i]), 0
		for n < min(head, len(runes)) && runes[n] == first[n] {
			n++
		}
		head = n
	}
	for _, i := range rows {
		runes, n := []rune(names[i]), 0
		for n < min(tail, len(runes)-head, len(first)-head) && runes[len(runes)-1-n] == first[len(first)-1-n] {
			n++
		}
		tail = n
	}
	return head, tail
}

// ShortName is a name in at most width characters: the middle of a longer one is left out. Names
// that are paths differ at their ends.
func ShortName(name string, width int) string {
	runes := []rune(name)
	if len(runes) <= width || width < 1 {
		return name
	}
	head := (width - 1) / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-1-head):])
}

// Footnotes are texts that the rows of a table refer to by numbers, from 1. A text that several
// rows have is there once.
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
