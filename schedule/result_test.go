package schedule_test

import (
	"strings"
	"testing"

	"ripc/schedule"
)

// A trace with packs is no use to who does not pack.
func TestApplyRefusesPacks(t *testing.T) {
	f := conv(shape{H: 3, W: 3, K: 1, Stride: 1, C: 1, Words: 2, Planes: 1})
	tr, err := schedule.ParseTrace("trace", "unroll acc.kh; pack f 3 0 1 2")
	if err != nil {
		t.Fatal(err)
	}
	_, err = tr.Apply(f)
	if want := "trace:1: pack f 3 0 1 2: @conv: the layout of %f would change"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	r, err := tr.ApplyAll(f)
	if err != nil || len(r.Packs) != 1 || r.Packs[0].Param != "f" {
		t.Errorf("ApplyAll gives %v, %v", r.Packs, err)
	}
}
