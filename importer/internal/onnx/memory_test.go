package onnx

import (
	"bytes"
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	"ripc/importer"
)

// TestMemory: hostile files get an error before they get a GiB.
func TestMemory(t *testing.T) {
	double := newFile(13).floats("c0", 1<<10)
	for i := range 40 {
		double.node(fmt.Sprintf("Concat c%d c%d -> c%d", i, i, i+1), "axis", 0)
	}
	fill := newFile(13).ints("s", 1<<14, 1<<14, 7).node("ConstantOfShape s -> a").node("Add x a -> y")
	fill2 := newFile(13).ints("s", 1<<29).node("ConstantOfShape s -> y")
	tile := newFile(13).floats("c", 1, 1024).ints("r", 1<<17, 1).node("Tile c r -> a").node("Tile a r -> y")
	expand := newFile(13, 1, 1, 1, 1).ints("s", 1<<7, 1<<7, 1<<7, 1<<8).node("Expand x s -> y")
	slopes := newFile(13, 1, 1<<28).node("LeakyRelu x -> y")
	messages := append([]byte{0x3A, 0x80, 0x80, 0x40}, bytes.Repeat([]byte{0x0A, 0x00}, 1<<19)...) // a graph of empty nodes
	for name, data := range map[string][]byte{
		"doubled": double.bytes(t), "filled": fill.bytes(t), "filled at once": fill2.bytes(t), "tiled": tile.bytes(t), "expanded": expand.bytes(t), "slopes": slopes.bytes(t),
		"empty messages": messages,
	} {
		const memory = 16 << 20
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		_, err := parse(t.Context(), "m.onnx", data, nil, importer.Options{}, nil, memory)
		goruntime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 4*memory {
			t.Errorf("%s: took %d MiB of %d", name, took>>20, 4*memory>>20)
		}
	}
	if 4*baseMemory > 1<<30 {
		t.Errorf("files may take %d MiB", 4*baseMemory>>20)
	}
	if _, err := Parse("m.onnx", fill2.bytes(t), nil); err == nil {
		t.Error("4 GiB: no error")
	}
}

// TestDynamicBatch: a batch size left open is 1, and the input says so.
func TestDynamicBatch(t *testing.T) {
	for _, dim := range []any{"N", nil} {
		f := newFile(13, "N", 3, 8, 8).node("Relu x -> y")
		if dim == nil {
			f.Graph.Input[0].GetType().GetTensorType().Shape.Dim[0].Value = nil
		}
		g, err := Parse("m.onnx", f.bytes(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if g.Value("x").Shape[0] != 1 || !strings.Contains(g.Value("x").Note, "it is 1 here") {
			t.Errorf("%v: %v, %q", dim, g.Value("x"), g.Value("x").Note)
		}
	}
	g, err := Parse("m.onnx", newFile(13, 4, 3).node("Relu x -> y").bytes(t), nil)
	if err != nil || g.Value("y").Shape[0] != 4 || g.Value("x").Note+g.Value("y").Note != "" {
		t.Errorf("a batch of 4: %v, %v", g, err)
	}
}

// TestDomains: QONNX's operators under each of their domains.
func TestDomains(t *testing.T) {
	for _, d := range []string{"onnx.brevitas", "qonnx.custom_op.general", "qonnx.custom_op.channels_last", "finn.custom_op.general", "finn"} {
		f := newFile(11, 1, 2).floats("one").node(d + ":BipolarQuant x one -> y")
		g, err := Parse("m.onnx", f.bytes(t), nil)
		if err != nil {
			t.Errorf("%s: %v", d, err)
			continue
		}
		if got := evaluate(g, map[string][]float32{"x": {0, -2}})["y"]; got[0] != 1 || got[1] != -1 {
			t.Errorf("%s: %v", d, got)
		}
	}
	if _, err := Parse("m.onnx", newFile(11, 1, 2).floats("one").node("ai.onnx:Add x one -> y").bytes(t), nil); err != nil {
		t.Errorf("ai.onnx: %v", err)
	}
}

// TestNamesOfOthers: a tensor keeps its name where a node that passes it on has a name that its own begins with.
func TestNamesOfOthers(t *testing.T) {
	g, err := Parse("m.onnx", newFile(13, 1, 4).node("Relu x -> w.z").node("Identity w.z -> w").node("Relu w -> y").bytes(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := g.Nodes[0]; n.Name != "w.z" || n.Output != "w.z" {
		t.Errorf("%s", g)
	}
}
