// Package suggest words the help for an unknown name.
package suggest

import (
	"cmp"
	"fmt"
	"strings"
)

// DidYouMean is `did you mean "x"? ` for the nearest of words, or "" if none is near.
func DidYouMean(word string, words []string) string {
	if near := Nearest(word, words); near != "" {
		return fmt.Sprintf("did you mean %q? ", near)
	}
	return ""
}

// Nearest returns the word with the fewest edits to word, of at most a third of its letters (at
// least one may always differ). If there is none, it returns the shortest that begins with word,
// which has three letters or more, or "". Very long words are not compared.
func Nearest(word string, words []string) string {
	const longest = 64
	if word == "" || len(word) > longest {
		return ""
	}
	best, longer, most := "", "", max(1, len(word)/3)
	for _, w := range words {
		if len(w) > longest || w == word {
			continue
		}
		if d := distance(strings.ToLower(word), strings.ToLower(w)); d <= most {
			best, most = w, d-1
		}
		if len(word) >= 3 && strings.HasPrefix(w, word) && (longer == "" || len(w) < len(longer)) {
			longer = w
		}
	}
	return cmp.Or(best, longer)
}

// distance returns the edit distance of two words: insertions, deletions, replacements, and swaps
// of neighbours.
func distance(a, b string) int {
	rows := [3][]int{make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		older, old, cur := rows[(i+1)%3], rows[(i-1)%3], rows[i%3]
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			cur[j] = min(old[j]+1, cur[j-1]+1, old[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], older[j-2]+1)
			}
		}
	}
	return rows[len(a)%3][len(b)]
}

// List joins at most n words, and counts the others.
func List(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}
