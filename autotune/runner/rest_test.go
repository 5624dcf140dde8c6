package runner

import (
	"errors"
	"testing"
	"time"
)

// TestRest: a worker whose answers are no good is told to rest, what it takes until then it should not have, and one that has rested is
// judged anew.
func TestRest(t *testing.T) {
	said := 0
	r := &fleet{f: Fleet{Log: func(string) { said++ }}, members: map[string]Member{}, mistakes: map[string]int{}, rested: map[string]time.Time{}}
	bad := errors.New("garbage")
	for i, want := range []bool{false, false, false, true, true} {
		if got := r.judge("w", bad); got != want {
			t.Errorf("mistake %d: %v, not %v", i+1, got, want)
		}
	}
	r.rested["w"] = time.Now().Add(-Resting)
	if r.judge("w", bad) || !r.judge("w", bad) {
		t.Error("after its rest, which it kept")
	}
	if said != mistakes+1 {
		t.Errorf("%d mistakes were told of, not %d", said, mistakes+1)
	}
	r.judge("w", nil)
	for i, want := range []bool{false, false, false, true} {
		if got := r.judge("w", bad); got != want {
			t.Errorf("mistake %d after a good answer: %v, not %v", i+1, got, want)
		}
	}
}
