package ripcjson

import "ripc/internal/suggest"

// didYouMean is suggest.DidYouMean, or "" if the report is long enough.
func (p *problems) didYouMean(word string, words []string) string {
	if p.full() {
		return ""
	}
	return suggest.DidYouMean(word, words)
}
