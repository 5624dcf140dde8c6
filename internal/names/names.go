// Package names gives things names of their own, and says which texts can be names.
package names

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable reports whether s is not empty and has no control characters, those of terminals
// included. Such text can be printed anywhere.
func Printable(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// Set is a set of names. The zero value has none.
type Set struct {
	last map[string]int // name -> the number that Unique gave last for it
}

// Take adds a name.
func (s *Set) Take(name string) {
	if s.last == nil {
		s.last = map[string]int{}
	}
	if s.last[name] == 0 {
		s.last[name] = 1
	}
}

// Has reports whether a name is in the set.
func (s *Set) Has(name string) bool { return s.last[name] > 0 }

// Unique adds name, or, if the set has it, name with the first free number from 2 on. It returns
// the added name.
func (s *Set) Unique(name string) string {
	free := name
	for s.Has(free) {
		s.last[name]++
		free = name + "_" + strconv.Itoa(s.last[name])
	}
	s.Take(free)
	return free
}
