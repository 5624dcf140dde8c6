package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/internal/randnet"
)

// riptideNet builds a network as Riptide's models are (github.com/jwfromm/Riptide, riptide/models): a float stem, levels, binary layers
// with shift_norm behind them, and a binary dense layer that a scalar scales.
type riptideNet struct {
	nodes   []map[string]any
	cur     string
	bits    int
	enc     string
	weights map[string]any // of binary layers
}

func (n *riptideNet) add(op string, attrs map[string]any, inputs ...string) string {
	if inputs == nil {
		inputs = []string{n.cur}
	}
	n.cur = fmt.Sprintf("%s%d", op, len(n.nodes))
	node := map[string]any{"name": n.cur, "op": op, "inputs": inputs}
	if attrs != nil {
		node["attrs"] = attrs
	}
	n.nodes = append(n.nodes, node)
	return n.cur
}

func (n *riptideNet) stem(filters, kernel, stride int) {
	n.cur = "x"
	n.add("conv2d", map[string]any{"filters": filters, "kernel": []int{kernel, kernel}, "strides": []int{stride, stride}, "padding": "same"})
	n.add("batch_norm", nil)
	n.add("max_pool", map[string]any{"kernel": []int{2, 2}})
	n.add("quantize", map[string]any{"bits": n.bits, "encoding": n.enc})
}

// conv is a binary layer and its normalization.
func (n *riptideNet) conv(filters, kernel, stride int) string {
	attrs := map[string]any{"filters": filters, "kernel": []int{kernel, kernel}, "strides": []int{stride, stride}, "padding": "same"}
	for k, v := range n.weights {
		attrs[k] = v
	}
	n.add("bitserial_conv2d", attrs)
	return n.norm()
}

func (n *riptideNet) norm() string {
	return n.add("shift_norm", map[string]any{"bits": n.bits, "encoding": n.enc})
}

func (n *riptideNet) pool() { n.add("max_pool", map[string]any{"kernel": []int{2, 2}}) }

func (n *riptideNet) head(classes int) {
	n.add("flatten", nil)
	attrs := map[string]any{"units": classes}
	for k, v := range n.weights {
		attrs[k] = v
	}
	n.add("bitserial_dense", attrs)
}

// qadd is Riptide's QAdd: levels added up, times a power of two, and levels of the network's own bits again.
func (n *riptideNet) qadd(x, y string) {
	n.add("add", nil, x, y)
	n.norm()
}

func (n *riptideNet) json() []byte {
	return randnet.Encode(map[string]any{
		"format": "ripc.model/1", "name": "riptide",
		"inputs":  []any{map[string]any{"name": "x", "dtype": "f32", "shape": []int{1, 16, 16, 3}}},
		"weights": map[string]any{"init": "random", "seed": 1}, "nodes": n.nodes, "outputs": []string{n.cur},
	})
}

func (n *riptideNet) alexNet() {
	n.stem(32, 11, 2)
	n.conv(48, 5, 1)
	n.pool()
	n.conv(64, 3, 1)
	n.conv(64, 3, 1)
	n.conv(32, 3, 1)
	n.pool()
	n.head(10)
}

func (n *riptideNet) vgg() {
	n.stem(32, 3, 1)
	for _, filters := range []int{64, 96} {
		n.conv(filters, 3, 1)
		n.conv(filters, 3, 1)
		n.pool()
	}
	n.head(10)
}

// resNet is of basic blocks, or of bottlenecks.
func (n *riptideNet) resNet(bottleneck bool) {
	n.stem(32, 7, 1)
	width := 32
	for _, filters := range []int{32, 64} {
		block, out, stride := n.cur, filters, filters/width
		if bottleneck {
			out = 2 * filters
			n.conv(filters, 1, 1)
		}
		n.conv(filters, 3, stride)
		if bottleneck {
			n.conv(out, 1, 1)
		} else {
			n.conv(out, 3, 1)
		}
		body := n.cur
		if n.cur = block; out != width || stride > 1 {
			n.conv(out, 1, stride)
		}
		n.qadd(body, n.cur)
		width = out
	}
	n.head(10)
}

// TestRiptideNetworks: the rows of Riptide's Table 1, as small networks, agree with plain arithmetic, and compiled code with the
// interpreter, on this machine, a 64-bit and a 32-bit board in turn. Every layer behind the stem is binary, and nothing between two of them is float.
func TestRiptideNetworks(t *testing.T) {
	type row struct {
		name    string
		build   func(n *riptideNet)
		enc     string
		bits    []int
		weights map[string]any
	}
	two := map[string]any{"weight_bits": 2, "weight_scale": "ap2"}
	compiled, takes := need.Part(t, 3), need.Part(t, 3)
	for i, r := range []row{
		{"alexnet", (*riptideNet).alexNet, "unipolar", []int{1, 2, 3}, map[string]any{"weight_scale": "mean"}},
		{"alexnet", (*riptideNet).alexNet, "bipolar", []int{1, 2, 3}, map[string]any{"weight_scale": "mean"}},
		{"vgg", (*riptideNet).vgg, "unipolar", []int{1, 2, 3}, map[string]any{"weight_scale": "ap2"}},
		{"vgg", (*riptideNet).vgg, "bipolar", []int{1, 2, 3}, map[string]any{"weight_scale": "ap2"}},
		{"resnet18", func(n *riptideNet) { n.resNet(false) }, "unipolar", []int{1, 2}, two},
		{"resnet50", func(n *riptideNet) { n.resNet(true) }, "unipolar", []int{1, 2}, two},
		{"resnet18", func(n *riptideNet) { n.resNet(false) }, "bipolar", []int{2}, two},
		{"resnet18_ternary", func(n *riptideNet) { n.resNet(false) }, "unipolar", []int{2}, map[string]any{"weight_encoding": "ternary"}},
	} {
		for k, bits := range r.bits {
			if !takes(i + k) {
				continue
			}
			t.Run(fmt.Sprintf("%s_%s%d", r.name, r.enc, bits), func(t *testing.T) {
				t.Parallel()
				n := &riptideNet{bits: bits, enc: r.enc, weights: r.weights}
				r.build(n)
				path := filepath.Join(t.TempDir(), "net.json")
				if err := os.WriteFile(path, n.json(), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := compareWithReference(path, rand.New(rand.NewPCG(1, 2))); err != nil {
					t.Fatal(err)
				}
				for _, target := range hostOrBoard(3*i, compiled) {
					needTarget(t, target)
					report, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: target, Strict: true}, Threads: 1})
					if err != nil {
						t.Fatal(err)
					}
					if !report.OK {
						t.Errorf("on %s: %+v", target, report)
					}
				}
			})
		}
	}
}
