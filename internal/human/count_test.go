package human

import "testing"

// TestCount: nouns behind numbers are in the plural, but behind 1.
func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"1 picture": Count(1, "picture"), "0 pictures": Count(0, "picture"), "2 classes": Count(2, "class"), "1 class": Count(1, "class"), "3 axes": Count(int64(3), "axis"),
		"2 entries": Count(2, "entry"), "2 ways": Count(2, "way"), "2 binary layers": Count(2, "binary layer"), "2 boxes": Count(2, "box"), "2 batches": Count(2, "batch"), "-1 steps": Count(-1, "step"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
