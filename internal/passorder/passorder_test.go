package passorder

import (
	"fmt"
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
