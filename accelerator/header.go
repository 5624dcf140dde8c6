package accelerator

import (
	"fmt"
	"strings"
)

// Header is a C header with the beats of the accelerator, for the program beside it.
func (a *Accelerator) Header() []byte {
	d, up := a.Design, strings.ToUpper(a.Prefix())
	var b strings.Builder
	fmt.Fprintf(&b, "/* The accelerator of %s for %s. Pixels come in row-major order, channels ascending, the first\n"+
		"   element of a beat in its low bits. Levels are counted so that real values rise. */\n", a.Prefix(),
		a.Target.Board.Name)
	fmt.Fprintf(&b, "#ifndef %[1]s_ACCELERATOR_H\n#define %[1]s_ACCELERATOR_H\n\n", up)
	define := func(name string, v any, what string) {
		fmt.Fprintf(&b, "#define %s_%s %v /* %s */\n", up, name, v, what)
	}
	define("CYCLES", d.Cycles, "of a picture, in a full pipeline")
	for _, s := range []struct {
		name            string
		beats, lanes    int
		bits            int
		signed, elments int
	}{{"IN", d.First.Beats(), d.First.Lanes, d.First.Bits, 0, d.First.Elems()},
		{"OUT", d.Last.Beats(), d.Last.Lanes, d.Last.Bits, boolInt(d.Last.Signed), d.Last.Elems()}} {
		define(s.name+"_ELEMENTS", s.elments, "of a picture")
		define(s.name+"_BEATS", s.beats, "of a picture")
		define(s.name+"_LANES", s.lanes, "elements a beat")
		define(s.name+"_BITS", s.bits, "bits of an element")
		define(s.name+"_SIGNED", s.signed, "1: elements are signed")
	}
	if m := d.SumsLeave(); m != nil {
		fmt.Fprintf(&b, "\n/* The sum of an output channel is element * %s_OUT_STEP + %s_out_offset[channel]. */\n", up,
			a.Prefix())
		define("OUT_STEP", m.Sums([]int64{1})[0]-m.Sums([]int64{0})[0], "")
		fmt.Fprintf(&b, "static const int %s_out_offset[%d] = {", a.Prefix(), len(m.K))
		for i, k := range m.K {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprint(&b, k)
		}
		b.WriteString("};\n")
	}
	b.WriteString("\n#endif\n")
	return []byte(b.String())
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
