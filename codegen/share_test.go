package codegen_test

import (
	"fmt"
	"testing"

	"ripc/codegen"
	"ripc/ir/irtext"
)

// TestUnits: parts are cut where nothing is repeated, into no more units than there are iterations.
func TestUnits(t *testing.T) {
	const loop = "for %%i in 0:%d parallel {\n%%y[%%i] = %%x[%%i]\n}\n"
	for _, c := range []struct {
		body string
		want int
	}{
		{fmt.Sprintf(loop, 40), 4}, {fmt.Sprintf(loop, 3), 3}, {fmt.Sprintf(loop, 1), 0},
		{"for %i in 0:40 {\n%y[%i] = %x[%i]\n}\n", 0},
		{"alloc %a: i32[40]\n" + fmt.Sprintf(loop, 40), 4},
		{"alloc %a: i32[40]\nfor %k in 0:40 {\n%a[%k] = 1i32\n}\nfor %i in 0:40 parallel {\n%y[%i] = %a[%i]\n}\n", 1},
	} {
		f, err := irtext.ParseFunc("f.ripir", []byte("func @f(%x: i32[40], out %y: i32[40]) {\n"+c.body+"}\n"))
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		if got := codegen.Units(f); got != c.want {
			t.Errorf("%s: %d units, want %d", c.body, got, c.want)
		}
	}
}
