package report

import (
	"bytes"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
)

// TestAccelerator: the page has every engine and FIFO, the shares of the part, the front and the layers on the processor.
func TestAccelerator(t *testing.T) {
	a, err := ripc.Accelerate(t.Context(), "../testdata/fpga/every.json", ripc.Options{Target: "pynq-z2"}, ripc.FoldOptions{Cycles: 4000})
	need.OK(t, err)
	b := &ripc.AcceleratorBench{Model: "every", Target: "pynq-z2", Part: a.Target.Part.Name, ClockMHz: 100, Cycles: a.Design.Cycles, Slowest: a.Design.Slowest,
		LUTs: 2660, FFs: 200000, BRAM36: 7, Tool: "yosys <1>", Layers: a.Layers()}
	var out bytes.Buffer
	need.OK(t, WriteAccelerator(&out, a, b, "ripc report every.json"))
	html := out.String()
	for _, want := range []string{"2660 of 53200, 5.0 %", `<rect class="float"`, "yosys &lt;1&gt;", "this one: ", "On the processor: levels",
		"sums of bits", "depthwise", "block RAM, Kbit", "<b>2,660</b><span>LUTs", "cycles a picture, by layer"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if boxes, units := strings.Count(html, `text class="onbox" `), len(a.Design.Units)+1; boxes != units {
		t.Errorf("%d boxes for %d units and an input", boxes, units)
	}
	if points := strings.Count(html, "<circle"); points != len(a.Front())+1 {
		t.Errorf("%d points for a front of %d", points, len(a.Front()))
	}
}
