package judge

import (
	"flag"
	"testing"
)

var (
	claims = flag.Int("claims", 20000, "how many claims are judged")
	from   = flag.Uint64("from", 0, "number of the first case")
)

// TestClaims: nothing that ripc proves is false. A case that fails is repeated by its number: -from N -claims 1.
func TestClaims(t *testing.T) {
	all := Tally{}
	n := *from
	for ; all.Sum() < *claims; n++ {
		tally, err := Case(t.Context(), n)
		if all.Add(tally); err != nil {
			t.Fatalf("after %d claims: %v", all.Sum(), err)
		}
	}
	t.Logf("%d claims in %d cases: %s", all.Sum(), n-*from, all)
}
