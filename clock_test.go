package ripc

import "testing"

// TestClock checks that a long look sees about what a short one sees, though this machine may be busy, and that no look
// makes the result smaller.
func TestClock(t *testing.T) {
	var c clock
	c.look(shortLook)
	first := c.ghz()
	if first <= 0 {
		t.Fatalf("%v GHz", first)
	}
	c.look(firstLook)
	if c.ghz() < first || c.ghz() > 10 {
		t.Errorf("%v GHz, %v before", c.ghz(), first)
	}
	before := c.last
	c.glance()
	if c.last != before {
		t.Error("looked again at once")
	}
}
