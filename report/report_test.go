package report

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ripc"
	"ripc/engine"
	"ripc/internal/need"
	"ripc/measure"
	"ripc/runtime/describe"
)

// longName is a name as TensorFlow makes them.
const longName = "model/batch_normalization_13/FusedBatchNormV3;model/quant_conv2d_12/Conv2D"

// madeUp is a report of a network of three layers on a board without a model of its pipeline.
func madeUp() *ripc.ReportResult {
	layer := func(name, kind, became string, weightBits int, macs int64) ripc.Layer {
		return ripc.Layer{Layer: describe.Layer{Kind: kind, WeightBits: weightBits}, Name: name, Became: became, Integer: strings.HasPrefix(became, "integer"), MACs: macs, Share: float64(macs) / 4e6}
	}
	in := &ripc.Inspection{Name: "net", Target: "cortex-m4", MACs: 4e6, BinaryMACs: 2e6, IntegerMACs: 1e6, Memory: &ripc.Memory{}, Layers: []ripc.Layer{
		layer("stem", "binary", "integer 8x8", 8, 1e6), layer(longName, "binary", "binary 1x1", 1, 2e6), layer("fc", "float", "float", 32, 1e6)}}
	in.Layers[1].Reason = &ripc.Reason{Reason: describe.Reason{Code: "code"}, Text: "a reason <of> two layers"}
	in.Layers[2].Reason = in.Layers[1].Reason
	in.Layers[2].Note = "the model's remark"
	b := &ripc.BenchResult{Simulated: true, Footprint: &engine.Footprint{Flash: 62696, FlashLimit: 1 << 20, RAM: 5696, Stack: 2684}}
	count := func(n uint64) ripc.Figures { return ripc.Figures{Instructions: &n} }
	b.Figures = count(7654321)
	for i, l := range in.Layers {
		b.Layers = append(b.Layers, ripc.LayerBench{Name: l.Name, Figures: count(uint64(1234567 * (i + 1)))})
	}
	return &ripc.ReportResult{Ripc: "1", File: "folder/net.tflite", Command: "ripc report folder/net.tflite --target cortex-m4 --output 'my page.html'",
		Inspection: in, Bench: b}
}

// TestPage: reasons are notes below the table, each once; numbers have commas, long names both ends; the file, the command and the
// memory of a microcontroller are on the page.
func TestPage(t *testing.T) {
	var out bytes.Buffer
	need.OK(t, Write(&out, madeUp()))
	html := out.String()
	for _, want := range []string{
		"folder/net.tflite<br>", `<code id="command">ripc report folder/net.tflite --target cortex-m4 --output &#39;my page.html&#39;</code>`,
		"<b>7,654,321</b>", ">1,234,567</td>", "of 4,000,000 MACs are bitserial", "<b>50.0 %</b>", "<b>25.0 %</b><span>of them are integer",
		`<li id="note1">a reason &lt;of&gt; two layers</li>`, `<li id="note2">note &#34;the model&#39;s remark&#34;</li>`,
		`>1</a>, <a href="#note2"`, `<span class="chip integer">integer 8x8</span>`,
		"<b>61.2 KiB</b><span>flash as linked of the board’s 1024.0 KiB", "<b>8380 B</b><span>RAM as linked, 2684 B of it stack",
		"<title>" + longName + "</title></text>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	if n := strings.Count(html, "<li id="); n != 2 {
		t.Errorf("%d notes, want 2", n)
	}
	labels := regexp.MustCompile(`text-anchor="end">([^<]*)<title>`).FindAllStringSubmatch(html, -1)
	if len(labels) != 3 {
		t.Fatalf("%d labels of bars", len(labels))
	}
	for _, l := range labels {
		if n := len([]rune(l[1])); n > nameLength {
			t.Errorf("the label %s has %d characters", l[1], n)
		}
	}
}

// TestFloatKind: a layer of few bits that is computed in floats has their colour.
func TestFloatKind(t *testing.T) {
	for algorithm, want := range map[string]string{"popcount": "binary", "float": "float"} {
		if got := kindOf(ripc.Layer{Layer: describe.Layer{Kind: "binary"}, Algorithm: algorithm}); got != want {
			t.Errorf("by %s: colour %s, not %s", algorithm, got, want)
		}
	}
}

// TestDevice: a device has launches, and the bytes that its kernels read and write.
func TestDevice(t *testing.T) {
	r, ms := madeUp(), 1.5
	r.Bench.Simulated, r.Bench.Footprint, r.Bench.Launches, r.Bench.Runs, r.Bench.Figures = false, nil, 2, 7, ripc.Figures{MinMS: &ms}
	r.Bench.Layers[0].Launches = make([]describe.Launch, 2)
	r.Inspection.Layers[0].Reads = []describe.Tensor{{Name: "x", Shape: []int{1, 8, 8, 4}, DType: "f32"}}
	r.Inspection.Layers[0].Writes = r.Inspection.Layers[0].Reads
	var out bytes.Buffer
	need.OK(t, Write(&out, r))
	for _, want := range []string{"measured on the device, fastest of 7 runs", "<b>2</b><span>launches of kernels", "<b>2048 B</b><span>of tensors",
		`<td class="n">2</td><td class="n">2048 B</td>`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// TestGraph: a box is as wide as its cost is high, branches stand beside each other, and a line that passes boxes goes around them.
func TestGraph(t *testing.T) {
	tensors := func(names ...string) (ts []describe.Tensor) {
		for _, n := range names {
			ts = append(ts, describe.Tensor{Name: n, Shape: []int{1, 8, 8, 4}, DType: "f32"})
		}
		return ts
	}
	layers := []ripc.Layer{
		{Name: "stem", Reads: tensors("x"), Writes: tensors("a")}, {Name: "left", Reads: tensors("a"), Writes: tensors("b")},
		{Name: "right", Reads: tensors("a"), Writes: tensors("c")}, {Name: "sum", Reads: tensors("b", "c", "a"), Writes: tensors("y")},
	}
	g := newGraph(layers, []float64{0, 5, 10, 1}, []string{"", "", "", ""})
	if len(g.Boxes) != 5 || g.Boxes[0].Kind != "input" || g.Boxes[0].Shape != "8×8×4" {
		t.Fatalf("boxes %+v", g.Boxes)
	}
	stem, left, right, sum := g.Boxes[1], g.Boxes[2], g.Boxes[3], g.Boxes[4]
	if left.Y != right.Y || left.X == right.X || stem.X != left.X || sum.X != left.X || sum.Y <= left.Y {
		t.Errorf("places %+v", g.Boxes)
	}
	if stem.Width != boxLeast || left.Width != (boxLeast+boxMost)/2 || right.Width != boxMost {
		t.Errorf("widths %d %d %d", stem.Width, left.Width, right.Width)
	}
	if len(g.Edges) != 6 || strings.Count(g.Edges[5].D, "C") != 2 || strings.Count(g.Edges[1].D, "C") != 1 {
		t.Errorf("lines %+v", g.Edges)
	}
}

// TestCompare: a page is read again, and the changes since then are on the new one.
func TestCompare(t *testing.T) {
	var out bytes.Buffer
	old := filepath.Join(t.TempDir(), "old.html")
	need.OK(t, Write(&out, madeUp()))
	need.OK(t, os.WriteFile(old, out.Bytes(), 0o644))
	before, err := Read(old)
	need.OK(t, err)
	now := madeUp()
	half := *now.Bench.Instructions / 2
	now.Bench.Instructions, now.Bench.Footprint.Flash = &half, 31348
	now.Against, err = ripc.CompareReports(old, before, now)
	need.OK(t, err)
	out.Reset()
	need.OK(t, Write(&out, now))
	for _, want := range []string{"Since " + old, `<td>whole network, instructions</td><td class="n">7,654,321</td><td class="n">3,827,160</td><td class="n">0.50</td>`,
		`<td>flash</td><td class="n">61.2 KiB</td><td class="n">30.6 KiB</td><td class="n">0.50</td>`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	need.OK(t, os.WriteFile(old, []byte("<html>"), 0o644))
	if _, err := Read(old); err == nil || !strings.Contains(err.Error(), "no page of a report") {
		t.Errorf("another page: %v", err)
	}
}

// TestAxis: an axis ends at most a step behind its longest bar, and has few steps.
func TestAxis(t *testing.T) {
	for _, v := range []float64{0, 1e-4, 0.3, 1, 1.01, 6, 7.5, 99, 100, 101, 135839200, 2e9} {
		step, steps := axis(v)
		if end := step * float64(steps); end < v || v > 0 && end-v > step || steps < 1 || steps > 6 {
			t.Errorf("to %g: %d steps of %g", v, steps, step)
		}
	}
}

// TestLimitLabels: labels of limits that are close are beside each other, not over each other.
func TestLimitLabels(t *testing.T) {
	macs := 100.0
	r := madeUp()
	r.Bench.Simulated = false
	for i := range r.Bench.Layers {
		r.Bench.Layers[i].MACsPerCycle = &macs
	}
	r.Limits = []ripc.Limit{{Name: "table", MACsPerCycle: 290.3}, {Name: "bits", MACsPerCycle: 336.3}, {Name: "int8", MACsPerCycle: 300}, {Name: "fp32", MACsPerCycle: 16}}
	perMAC := func(f ripc.Figures) *float64 { return f.MACsPerCycle }
	lines := newRoof(r, unit{Unit: measure.Milliseconds, perMAC: perMAC}).Limits
	width := func(l limitLine) float64 { return labelCharacter * float64(len(l.Text)) }
	for i, a := range lines {
		for _, b := range lines[:i] {
			apart := a.X >= b.X+width(b) || b.X >= a.X+width(a)
			if math.Abs(a.Y-b.Y) < 12 && !apart {
				t.Errorf("%q is over %q", a.Text, b.Text)
			}
		}
		if a.X+width(a) > roofWidth || a.Y < roofTop {
			t.Errorf("%q is outside", a.Text)
		}
	}
}

// TestAgainst: a network is said to be slower than its float twin, as fast, or faster, by what it is.
func TestAgainst(t *testing.T) {
	u := unitOf(&ripc.BenchResult{Figures: ripc.Figures{MinMS: new(float64)}})
	for twin, want := range map[float64]string{10: "5.0× faster than", 2.02: "1.0× as fast as", 1.98: "1.0× as fast as", 1: "2.0× slower than"} {
		if got := u.comparison(2, twin); !strings.HasPrefix(got.Value+" "+got.Label, want+" its float twin (") {
			t.Errorf("2 ms beside %g: %v, want %s", twin, got, want)
		}
	}
}
