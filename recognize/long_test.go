package recognize

import (
	"testing"
)

// TestLongRows: rows of one op, and of branches that join again, take work in proportion to their length. Several times as
// many took minutes where every op looked at all before it, or at every way through them.
func TestLongRows(t *testing.T) {
	input := func(n *net) string { return n.input(1, 4, 4, 3) }
	signs := func(n *net) string {
		return n.two("mul", n.plain("sign", n.input(1, 4, 4, 3)), n.plain("sign", n.input(1, 4, 4, 3)))
	}
	rows := []struct {
		name  string
		count int
		first func(n *net) string
		next  func(n *net, x string) string
	}{
		{"add", 4000, input, func(n *net, x string) string { return n.binary("add", 0.5, x) }},
		{"relu", 4000, input, func(n *net, x string) string { return n.plain("relu", x) }},
		{"sign", 500, input, func(n *net, x string) string { return n.plain("sign", x) }},
		{"ste", 200, input, func(n *net, x string) string { return n.ste(n.plain("sign", x), n.clip(x, -1, 1)) }},
		{"double", 2000, input, func(n *net, x string) string { return n.two("add", x, x) }},
		{"squares of signs", 28, signs, func(n *net, x string) string { return n.two("mul", x, x) }},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			lookups := func(count int) int {
				n := newNet(t.Fatal, 1)
				x := row.first(n)
				for range count {
					x = row.next(n, x)
				}
				n.Outputs = []string{n.conv(x, n.few([]int{-1, 1}, 3, 3, 3, 4), same, false)}
				r := newRewriter(n.Graph)
				if err := r.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				return r.Lookups()
			}
			// the short row first: where ways multiply, it is the one that comes to an end
			half := lookups(row.count / 2)
			if perOp := half / (row.count / 2); perOp > 1000 {
				t.Fatalf("%d times take %d lookups, %d for each", row.count/2, half, perOp)
			}
			whole := lookups(row.count)
			if whole > half*5/2 {
				t.Errorf("%d times take %d lookups, twice as many take %d", row.count/2, half, whole)
			}
		})
	}
}
