package emit_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ripc/internal/need"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/irtext"
	"ripc/schedule"
)

// worst is a sum of k words in a narrow accumulator, twice over, as large as the proof of widths admits.
type worst struct {
	word, acc ir.Type
	signed    bool // bits - 2*popcount instead of popcount
	k         int  // one more is refused
}

func worsts() []worst {
	return []worst{
		{ir.U8, ir.U8, false, 31}, {ir.U32, ir.U8, false, 7}, {ir.U64, ir.U8, false, 3},
		{ir.U8, ir.I8, false, 15}, {ir.U32, ir.I8, false, 3}, {ir.U8, ir.I8, true, 15}, {ir.U32, ir.I8, true, 3},
		{ir.U8, ir.U16, false, 8191}, {ir.U32, ir.U16, false, 2047}, {ir.U64, ir.U16, false, 1023},
		{ir.U32, ir.I16, false, 1023}, {ir.U8, ir.I16, true, 4095}, {ir.U32, ir.I16, true, 1023}, {ir.U64, ir.I16, true, 511},
	}
}

const worstLanes = 8

// summand is what word k of lane o adds.
func (c worst) summand() string {
	x := "cast<i32>(popcount(%x[%k % 64] ^ %w[%k % 64, %o]))"
	if c.signed {
		return fmt.Sprintf("%di32 - (%s + %s)", c.word.Bits(), x, x)
	}
	return x
}

// kernel sums k words, in lanes of the narrow type.
func (c worst) kernel(t *testing.T, k int) (*ir.Func, error) {
	t.Helper()
	name := fmt.Sprintf("worst_%s_%s_%v", c.word, c.acc, c.signed)
	f, err := irtext.ParseFunc("worst.ripir", fmt.Appendf(nil, `func @%s(%%x: %s[64], %%w: %s[64, %d], out %%y: i32[%d]) {
  alloc %%acc: i32[%d]
  for %%z in 0:%d { %%acc[%%z] = 0i32 }
  for %%r in 0:2 {
    for %%k in 0:%d {
      for %%o in 0:%d { %%acc[%%o] += %s }
    }
  }
  for %%j in 0:%d { %%y[%%j] = %%acc[%%j] }
}
`, name, c.word, c.word, worstLanes, worstLanes, worstLanes, worstLanes, k, worstLanes, c.summand(), worstLanes))
	if err != nil {
		t.Fatal(err)
	}
	tr, err := schedule.ParseTrace("trace", fmt.Sprintf("narrow_accumulate acc r %s; vectorize acc.%s.z0; vectorize acc.%s.w0; vectorize o; vectorize j", c.acc, c.acc, c.acc))
	if err != nil {
		t.Fatal(err)
	}
	return tr.Apply(f)
}

// args makes all bits of every second lane match and all bits of the others differ, or the other way round.
func (c worst) args(f *ir.Func, odd int) [][]byte {
	args := [][]byte{make([]byte, f.Params[0].Bytes()), make([]byte, f.Params[1].Bytes()), make([]byte, f.Params[2].Bytes())}
	size := c.word.Bits() / 8
	for i := range args[1] {
		if i/size%2 == odd {
			args[1][i] = 0xFF
		}
	}
	return args
}

// TestWorstCase reaches the largest and the smallest sum of every narrow accumulator, natively, under qemu and in the
// interpreter, and is refused one word more.
func TestWorstCase(t *testing.T) {
	var fs []*ir.Func
	cases := worsts()
	for _, c := range cases {
		f, err := c.kernel(t, c.k)
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if err := arith.VerifyWidths(f); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		fs = append(fs, f)
		_, err = c.kernel(t, c.k+1)
		var e *ir.Error
		want := "one iteration of loop %r adds up too much for " + c.acc.String()
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || !strings.Contains(e.Help, fmt.Sprintf("at most %d of the %d iterations of %%k fit", c.k, c.k+1)) {
			t.Errorf("%+v with one word more: %v (help: %v), want %q", c, err, e, want)
		}
	}
	for _, tg := range natives(t) {
		lib := buildFor(t, tg, fs...)
		for i, f := range fs {
			for odd := range 2 {
				args := cases[i].args(f, odd)
				lib.sameOn(t, f.Name, args)
				cases[i].check(t, interpret(t, f, args)[2], odd)
			}
		}
	}
	for _, board := range []string{"rpi4", "rpi2"} {
		tg := target(t, board)
		runWorst(t, need.Tool(t, "qemu-"+tg.Arch), tg, fs, cases)
	}
}

// check compares with what sums of words that match or differ in every bit must be.
func (c worst) check(t *testing.T, y []byte, odd int) {
	t.Helper()
	for o := range worstLanes {
		want := 0
		if o%2 == odd {
			want = 2 * c.k * c.word.Bits()
		}
		if c.signed {
			want = 2*c.k*c.word.Bits() - 2*want
		}
		if got := int(int32(binary.LittleEndian.Uint32(y[4*o:]))); got != want {
			t.Errorf("%+v: lane %d is %d, want %d", c, o, got, want)
		}
	}
}
