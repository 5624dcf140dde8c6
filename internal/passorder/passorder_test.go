package passorder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		passes []string
		rules  [][3]string
		want   string
	}{
		{[]string{"a", "b", "c"}, [][3]string{{"a", "b", "y"}, {"a", "c", "y"}}, "<nil>"},
		{[]string{"a", "b", "a"}, nil, "pass a is listed twice"},
		{[]string{"b", "a"}, [][3]string{{"a", "b", "b needs it"}}, "pass a must run before b: b needs it"},
		{[]string{"a"}, [][3]string{{"a", "a", "y"}}, "pass a must run before a: y"},
		{[]string{"a"}, [][3]string{{"a", "b", "y"}}, `rule "a" before "b": names no two passes, or no reason`},
		{[]string{"a", "b"}, [][3]string{{"a", "b", ""}}, `rule "a" before "b": names no two passes, or no reason`},
	} {
		if got := fmt.Sprint(Check(c.passes, c.rules)); got != c.want {
			t.Errorf("%v: got %s, want %s", c, got, c.want)
		}
	}
}

// TestRun: passes run in order until one fails, those that are disabled left out; a wrong table panics.
func TestRun(t *testing.T) {
	bad := errors.New("bad")
	pass := func(name string, err error) Pass[*[]string] {
		return Pass[*[]string]{Name: name, Run: func(_ context.Context, ran *[]string) error { *ran = append(*ran, name); return err }}
	}
	passes := []Pass[*[]string]{pass("a", nil), pass("b", nil), pass("c", bad), pass("d", nil)}
	var ran, seen []string
	err := Run(t.Context(), passes, nil, &ran, []string{"b"}, func(p string) { seen = append(seen, p) })
	if err != bad || !slices.Equal(ran, []string{"a", "c"}) || !slices.Equal(seen, []string{"a"}) {
		t.Errorf("ran %v, seen %v: %v", ran, seen, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a wrong order is taken")
		}
	}()
	t.Error(Run(t.Context(), passes, [][3]string{{"b", "a", "y"}}, &ran, nil, nil))
}
