package strategy

import (
	"sync"
	"testing"
)

// TestRecent: what was asked for lately is made once, what was not is forgotten, and nothing gets the value of another.
func TestRecent(t *testing.T) {
	var r recent[int, int]
	made := 0
	get := func(k int) {
		t.Helper()
		if v := r.get(k, func() int { made++; return -k }); v != -k {
			t.Fatalf("%d has the value %d", k, v)
		}
	}
	for k := range 3 * most {
		get(k)
		get(0)
	}
	if made != 3*most {
		t.Errorf("made %d values of %d", made, 3*most)
	}
	if kept := len(r.young) + len(r.old); kept > 2*most {
		t.Errorf("%d values are kept", kept)
	}
	if get(1); made != 3*most+1 {
		t.Error("a value that nobody asked for is still known")
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for k := range most {
				if v := r.get(k, func() int { return -k }); v != -k {
					t.Errorf("%d has the value %d", k, v)
				}
			}
		})
	}
	all.Wait()
}
