package schedule_test

import (
	"strings"
	"testing"

	"ripc/ir"
	"ripc/ir/irtext"
	"ripc/schedule"
)

// An instruction takes a window once: it stands for no loop that moves it meanwhile, and a condition on what is written below it
// proves nothing of one.
func TestTensorizeMoved(t *testing.T) {
	parsed, err := irtext.Parse("moved.ripir", []byte(`
func @copy(%from: i64[2], out %to: i64[2]) {
  for %k in 0:2 {
    %to[%k] = %from[%k]
  }
}
func @itself(%x: i64[2], out %y: i64[4, 2]) {
  for %i in 0:2 {
    %y[min(max(%y[0, 0], 0), 3), %i] = %x[%i]
  }
}
func @stale(%x: i64[2], %z: i8[1], out %y: i64[4, 2], out %p: i8[1]) {
  if cast<i64>(%p[0]) >= 0 & cast<i64>(%p[0]) < 4 {
    %p[0] = %z[0]
    for %i in 0:2 {
      %y[cast<i64>(%p[0]), %i] = %x[%i]
    }
  }
}
func @still(%x: i64[2], %p: i8[1], out %y: i64[4, 2]) {
  if cast<i64>(%p[0]) >= 0 & cast<i64>(%p[0]) < 4 {
    for %i in 0:2 {
      %y[cast<i64>(%p[0]), %i] = %x[%i]
    }
  }
}
`))
	if err != nil {
		t.Fatal(err)
	}
	instr := parsed.Funcs[0]
	for name, want := range map[string]string{"itself": "where index 0 reads elements that the loop writes", "stale": "may leave dimension 0", "still": ""} {
		for _, f := range parsed.Funcs[1:] {
			if f.Name != name {
				continue
			}
			s, err := schedule.ParseStep("tensorize i copy")
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Apply(f, schedule.WithInstrs(map[string]*ir.Func{"copy": instr}))
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("@%s: %v, want %q", name, err, want)
			}
		}
	}
}
