package emit_test

import (
	"os/exec"
	"testing"

	"ripc/ir"
	"ripc/ir/irtext"
	"ripc/schedule"
)

// narrowed sums popcounts of bytes in byte lanes, 31 at a time.
func narrowed(t *testing.T) *ir.Func {
	t.Helper()
	f, err := irtext.ParseFunc("narrowed.ripir", []byte(`func @narrowed(%x: u8[62], %w: u8[62, 32], out %y: i32[32]) {
  alloc %acc: i32[32]
  for %o in 0:32 {
    %acc[%o] = 0i32
    for %k in 0:62 {
      %acc[%o] += cast<i32>(popcount(%x[%k] ^ %w[%k, %o]))
    }
  }
  for %j in 0:32 {
    %y[%j] = %acc[%j]
  }
}
`))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := schedule.ParseTrace("trace", `split k 31 tail=perfect; reorder k.o k.i o; narrow_accumulate acc k.o u8
vectorize acc.u8.z0; vectorize acc.u8.w0; vectorize o*; vectorize j`)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = tr.Apply(f); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestNarrowAccumulate finds byte lanes in the loop, and sums that are those of the interpreter.
func TestNarrowAccumulate(t *testing.T) {
	f := narrowed(t)
	checkAll(t, f)
	match(t, assembly(t, f, target(t, "rpi4")), `cnt\s+v\d+\.16b`, `add\s+v\d+\.16b`, `!uaddlp`)
	if qemu, err := exec.LookPath("qemu-aarch64"); err == nil {
		checkARM(t, qemu, target(t, "rpi4"), []*ir.Func{f})
	}
}
