package names

import "testing"

func TestUnique(t *testing.T) {
	var s Set
	s.Take("b_2")
	for _, c := range []struct{ name, want string }{
		{"a", "a"}, {"a", "a_2"}, {"a_2", "a_2_2"}, {"a", "a_3"}, {"b", "b"}, {"b", "b_3"}, {"b_2", "b_2_2"}, {"", ""}, {"", "_2"},
	} {
		if s.Has(c.want) {
			t.Errorf("%q is there before it was given", c.want)
		}
		if got := s.Unique(c.name); got != c.want || !s.Has(got) {
			t.Errorf("for %q: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for s, want := range map[string]bool{"": false, "a": true, "é 猫/:": true, "a\nb": false, "\x1b[2J": false, "\u009b": false, "\x7f": false, "\xff": false} {
		if Printable(s) != want {
			t.Errorf("%q: %t", s, !want)
		}
	}
}
