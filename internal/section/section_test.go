package section

import "testing"

func TestReplace(t *testing.T) {
	page := "a\n<begin>\nold\n<end>\nb\n"
	got, err := Replace(page, "<begin>", "<end>", "new\nlines\n")
	if want := "a\n<begin>\nnew\nlines\n<end>\nb\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"a\n", "<begin>\nno end\n", "<end>\n<begin>\n"} {
		if got, err := Replace(bad, "<begin>", "<end>", "new\n"); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
}
