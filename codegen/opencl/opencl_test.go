package opencl_test

import (
	"strings"
	"testing"

	"ripc/codegen/opencl"
	"ripc/internal/golden"
	"ripc/ir/irtext"
	"ripc/targets"
)

// source has a shared buffer, a barrier, a loop around phases, own and scratch buffers, and operations that OpenCL leaves open.
const source = `func @f(%x: f32[4, 64], %w: u32[64], out %y: f32[4, 64]) {
  alloc %s: i32[64]
  for %i in 0:64 thread {
    %s[%i] = cast<i32>(popcount(%w[%i]))
  }
  for %b in 0:4 block {
    alloc %t: f32[64] shared
    for %r in 0:2 {
      barrier
      for %a in 0:32 thread {
        %t[%r * 32 + %a] = sqrt(%x[%b, %r * 32 + %a]) / cast<f32>(%s[%a])
      }
    }
    barrier
    for %c in 0:64 thread {
      alloc %m: f32[2]
      for %k in 0:2 unroll {
        %m[%k] = fma(%t[63 - %c], 2.0, %x[%b, %c])
      }
      %y[%b, %c] = max(%m[0], %m[1])
    }
  }
}
`

// TestText pins the text of kernels, and their grids.
func TestText(t *testing.T) {
	f, err := irtext.ParseFunc("f.ripir", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	m, err := targets.Lookup("mali-t860")
	if err != nil {
		t.Fatal(err)
	}
	k, err := opencl.Backend{}.Kernel(f, "f", m, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Launches) != 2 || k.Launches[1].Blocks != 4 || k.Launches[1].Threads != 64 || k.Launches[1].Shared != 256 {
		t.Errorf("launches %+v", k.Launches)
	}
	golden.Check(t, "testdata/f.cl", k.Text)
}

// TestCall: kernels have no instructions, so a call is refused before a driver's compiler sees it.
func TestCall(t *testing.T) {
	f, err := irtext.ParseFunc("f.ripir", []byte(`instr @i(out %c: i32[1], %x: i32[1]) {
  for %l in 0:1 {
    %c[%l] = %x[%l]
  }
}
func @f(%x: i32[8], out %c: i32[8]) {
  for %i in 0:8 thread {
    call @i(%c[%i], %x[%i])
  }
}
`))
	if err != nil {
		t.Fatal(err)
	}
	m, err := targets.Lookup("mali-t860")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (opencl.Backend{}).Kernel(f, "f", m, nil); err == nil || !strings.Contains(err.Error(), "devices of OpenCL have no instructions") {
		t.Error(err)
	}
}
