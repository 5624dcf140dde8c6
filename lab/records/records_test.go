package records

import (
	"bytes"
	"os"
	"testing"

	"ripc/autotune/records"
)

// TestPack: records of targets without measurements in the folder stay, those of others are replaced, and packing again gives the same bytes.
func TestPack(t *testing.T) {
	set, _, err := unpack("../../" + packed)
	if err != nil || len(set.Records) == 0 {
		t.Fatal(err)
	}
	shipped, err := os.ReadFile("../../" + packed)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, d := range []string{dir, "autotune/shipped"} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(packed, shipped, 0o600); err != nil {
		t.Fatal(err)
	}
	again := func(want int) []byte {
		t.Helper()
		if err := pack(); err != nil {
			t.Fatal(err)
		}
		s, _, err := unpack(packed)
		if err != nil || len(s.Records) != want {
			t.Fatalf("%d records, %v, not %d", len(s.Records), err, want)
		}
		text, err := os.ReadFile(packed)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	if first := again(len(set.Records)); !bytes.Equal(first, again(len(set.Records))) {
		t.Error("packing again gives other bytes")
	}
	rs, err := runs()
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, r := range set.Records {
		if r.Target != rs[0].Target {
			want++
		}
	}
	if err := records.WriteFile(file(rs[0].Target), &records.Set{}); err != nil {
		t.Fatal(err)
	}
	again(want)
}
