package lists

import (
	"maps"
	"slices"
	"strconv"
	"testing"
)

func TestLists(t *testing.T) {
	if got := Map([]int{3, 1}, strconv.Itoa); !slices.Equal(got, []string{"3", "1"}) {
		t.Errorf("Map returned %q", got)
	}
	if got := Set("a", "b", "a"); !maps.Equal(got, map[string]bool{"a": true, "b": true}) {
		t.Errorf("Set returned %v", got)
	}
}
