package emit_test

import (
	"fmt"
	"os/exec"
	"testing"

	"ripc/ir"
	"ripc/ir/irtext"
	"ripc/schedule"
)

// TestShortSums adds counts of words to sums of 8 and 16 bits on 64-bit Arm, compares these with limits, and packs what comes of it: neighbours are added
// before they are widened, and no lanes are moved.
func TestShortSums(t *testing.T) {
	var fs []*ir.Func
	for _, bits := range []int{8, 16} {
		for _, lanes := range []int{16, 32} {
			name := fmt.Sprintf("sums%d_%d", bits, lanes)
			f, err := irtext.ParseFunc(name+".ripir", fmt.Appendf(nil, `func @%[1]s(%%x: u32[5], %%w: u32[5, %[2]d], %%t: u%[3]d[%[2]d], out %%y: u32[1]) {
  alloc %%acc: u%[3]d[%[2]d]
  for %%o in 0:%[2]d {
    %%acc[%%o] = 0u%[3]d
    for %%k in 0:5 {
      %%acc[%%o] += cast<u%[3]d>(popcount(%%x[%%k] ^ %%w[%%k, %%o]))
    }
  }
  %%y[0] = 0u32
  for %%l in 0:%[2]d {
    %%y[0] |= cast<u32>(%%acc[%%l] < %%t[%%l]) << cast<u32>(%%l)
  }
}
`, name, lanes, bits))
			if err != nil {
				t.Fatal(err)
			}
			tr, err := schedule.ParseTrace("trace", "reorder k o; vectorize o*; vectorize l")
			if err != nil {
				t.Fatal(err)
			}
			if f, err = tr.Apply(f); err != nil {
				t.Fatal(err)
			}
			want := []string{`cnt\s+v\d+\.16b`, `addp\s+v\d+\.16b`, `!zip1`, `!uadalp\s+v\d+\.4s`, `!uaddlp\s+v\d+\.4s`}
			if bits == 16 {
				want = append(want, `uadalp\s+v\d+\.8h`)
			}
			match(t, assembly(t, f, target(t, "rpi4")), want...)
			fs = append(fs, f)
		}
	}
	if qemu, err := exec.LookPath("qemu-aarch64"); err == nil {
		checkARM(t, qemu, target(t, "rpi4"), fs)
	}
}
