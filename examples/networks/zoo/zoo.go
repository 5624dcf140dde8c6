// Package zoo makes the networks of the literature as files of ripc's own format: the layers of
// each, from one table, with weights that are generated from a seed and statistics of the
// normalizations that keep the bits of every layer balanced.
package zoo

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/ripcjson"
	"ripc/internal/safetensors"
	"ripc/internal/stop"
	"ripc/ir"
)

// Network is a row of the table: its name, its paper and its layers.
type Network struct {
	Name string
	// Family is the name that networks of the same layers share; they differ in bits and in their
	// inputs.
	Family string
	Paper  string // who published it, where
	Note   string // the properties of this form of it; may be ""
	// Input is the shape of its input: [1, H, W, C] or [1, C].
	Input []int
	// Bits of the activations of binary layers, and how they are encoded; Bits is 0 of the network
	// in floats.
	Bits     int
	Encoding ir.EncodingKind
	// Weights is the number of bits of the weights of binary layers, 1 if left out.
	Weights int
	// Listed networks are in the table of measured figures.
	Listed bool
	// Mode is the arithmetic of shift_norm, where there is any.
	Mode graph.ShiftMode

	blocks func(b *builder, x string) string // adds the layers, and gives the network's output
	gain   float64                           // of the weights that are generated; 1 if left out
	values int                               // that weights have; any if left out
	bytes  bool                              // pictures are bytes
	small  bool                              // a small twin: few channels and repetitions
	stats  string                            // name of the file of statistics, Name if left out
}

// Find is the network of a name. A name with _32 at its end is the small twin of the one without.
func Find(name string) (Network, error) {
	big, small := strings.CutSuffix(name, smallSuffix)
	for _, n := range Networks() {
		if n.Name == big {
			if small {
				return n.Small(), nil
			}
			return n, nil
		}
	}
	return Network{}, fmt.Errorf("there is no network %q", name)
}

const smallSuffix = "_32"

// Small is the small twin of n, for tests: the same blocks, with an eighth of the channels or less,
// few repetitions and pictures of 32x32.
func (n Network) Small() Network {
	n.Name += smallSuffix
	if n.stats != "" {
		n.stats += smallSuffix
	}
	n.small = true
	n.Input = slices.Clone(n.Input)
	for d := 1; d < len(n.Input)-1; d++ { // of a sequence the rows stay one
		n.Input[d] = min(n.Input[d], 32)
	}
	return n
}

// Riptide reports whether n's glue is shift_norm.
func (n Network) Riptide() bool { return n.Paper == riptidePaper && n.Bits > 0 }

// model is the network without its statistics.
func (n Network) model() *model {
	b := &builder{Network: n, model: &model{Name: n.Name}}
	in := attrs{"name": "image", "dtype": "f32", "shape": n.Input}
	if len(n.Input) == 4 {
		in["layout"] = "NHWC"
	}
	if n.bytes {
		in["dtype"], in["encoding"], in["bits"], in["scale"] = "u8", "unipolar", 8, 1.0/255
	}
	b.Inputs = []attrs{in}
	b.Source = attrs{"init": "random", "seed": 1, "gain": cmp.Or(n.gain, 1), "file": n.statistics()}
	if n.values > 0 {
		b.Source["values"] = n.values
	}
	b.Outputs = []string{n.blocks(b, "image")}
	return b.model
}

// Graph is the network with statistics that are generated like its weights: its outputs are out of
// balance, its layers and shapes are the network's. It is there at once.
func (n Network) Graph() (*graph.Graph, error) {
	text, err := n.plainText()
	if err != nil {
		return nil, err
	}
	return ripcjson.Parse(n.Name+".json", text, nil)
}

// plainText is the file of Graph.
func (n Network) plainText() ([]byte, error) {
	m := n.model()
	delete(m.Source, "file")
	return m.text()
}

// WritePlain writes the network of Graph into a folder: NAME.json alone. It returns its path.
func (n Network) WritePlain(dir string) (path string, err error) {
	text, err := n.plainText()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, n.Name+".json")
	return path, os.WriteFile(path, text, 0o644)
}

// statistics is the name of the file of statistics.
func (n Network) statistics() string {
	return cmp.Or(n.stats, n.Name) + ".safetensors"
}

// calibrationPictures is how many pictures statistics are taken on.
const calibrationPictures = 6

// Write writes the network into a folder: NAME.json, and a safetensors file of statistics, which
// are taken layer by layer on random pictures. It returns the path of NAME.json.
func (n Network) Write(dir string) (path string, err error) {
	defer stop.Catch(&err)
	m := n.model()
	text := stop.Must(m.text())
	path = filepath.Join(dir, n.Name+".json")
	stop.Check(os.WriteFile(path, text, 0o644))
	stored := func(string) (map[string]safetensors.Tensor, error) { return m.stored, nil }
	g := stop.Must(ripcjson.Parse(path, text, stored))
	cal := &calibrator{g: g, index: graph.NewIndex(g), e: newEvaluator(g), stored: m.stored}
	stop.Check(cal.e.forward(n.pictures(calibrationPictures, 1000), cal.visit, nil))
	if cal.worst > 1.5 {
		return "", fmt.Errorf("%s: |mean|/S is up to %.2f, and Riptide's formula clips it at 1", path, cal.worst)
	}
	return path, safetensors.WriteFile(filepath.Join(dir, n.statistics()), cal.stored)
}

// Balance measures how balanced the bits of the network in a file are on random pictures of a seed,
// and fails if a layer is out of balance.
func (n Network) Balance(path string, pictures int, seed uint64, log io.Writer) error {
	g, err := ripcjson.Read(context.Background(), path, importer.Options{})
	if err != nil {
		return err
	}
	return balance(g, n.pictures(pictures, seed), log)
}

// WriteCommitted writes files of the repository: some networks of examples/squeezenet, and the
// layers of examples/convs.
func WriteCommitted(examples string, networks []Network) error {
	for _, n := range networks {
		if _, err := n.Write(filepath.Join(examples, "squeezenet")); err != nil {
			return err
		}
	}
	return writeConvs(filepath.Join(examples, "convs"))
}

// Committed are the networks that are files of the repository, in examples/squeezenet.
func Committed() []Network { return squeezeNets() }
