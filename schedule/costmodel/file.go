package costmodel

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
)

// Format is the format name in files of this version.
const Format = "ripc.costmodel/2"

// head is the first line of a file, in JSON. The nodes of all trees follow, one array for each
// field of tree, in little endian: n features (int32), n values (float32), n right children
// (int32), n gains (float32), n missing (int8).
type head struct {
	Format    string   `json:"format"`
	Objective string   `json:"objective"`
	Features  []string `json:"features"`
	Constant  float32  `json:"constant"`
	Nodes     []int    `json:"nodes"` // of each tree
}

// most is the largest number of nodes that Decode reads.
const most = 1 << 24

// arrays returns the fields of a tree in the order of the file.
func (t *tree) arrays() []any { return []any{t.Feature, t.Value, t.Right, t.Gain, t.Missing} }

// Encode returns the model's file, which Decode reads. Equal models give equal bytes.
func (m *Model) Encode() []byte {
	h := head{Format, objective, m.names, m.constant, nil}
	var all tree
	for _, t := range m.trees {
		h.Nodes = append(h.Nodes, len(t.Feature))
		all.Feature, all.Value, all.Right = append(all.Feature, t.Feature...), append(all.Value, t.Value...),
			append(all.Right, t.Right...)
		all.Gain, all.Missing = append(all.Gain, t.Gain...), append(all.Missing, t.Missing...)
	}
	text, err := json.Marshal(h)
	if err != nil {
		panic("BUG: a model has numbers that JSON has not: " + err.Error())
	}
	out := bytes.NewBuffer(append(text, '\n'))
	for _, array := range all.arrays() {
		if err := binary.Write(out, binary.LittleEndian, array); err != nil {
			panic("BUG: " + err.Error())
		}
	}
	return out.Bytes()
}

// Decode reads a model for features of the given names. These may be more than the model's, in
// another order. It fails with *FormatError, also if the model uses a feature that is not among
// them.
func Decode(data []byte, names []string) (*Model, error) {
	text, data, _ := bytes.Cut(data, []byte("\n"))
	var h head
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, formatf("%v", err)
	}
	switch {
	case h.Format != Format:
		return nil, formatf("format %q is not %q", h.Format, Format)
	case h.Objective != objective:
		return nil, formatf("no objective %q", h.Objective)
	}
	trees, err := decodeTrees(data, h.Nodes)
	if err != nil {
		return nil, err
	}
	places := make([]int32, len(h.Features)) // in names, -1 of those that are not there
	for i, name := range h.Features {
		places[i] = int32(slices.Index(names, name))
	}
	for k, t := range trees {
		if !t.check(len(h.Features)) {
			return nil, formatf("tree %d is none", k)
		}
		for i, feature := range t.Feature {
			if feature == leaf {
				continue
			}
			if places[feature] < 0 {
				return nil, formatf("it asks for the feature %q, which there is no more", h.Features[feature])
			}
			t.Feature[i] = places[feature]
		}
	}
	return newModel(names, h.Constant, trees)
}

// decodeTrees reads trees of the given numbers of nodes.
func decodeTrees(data []byte, nodes []int) ([]tree, error) {
	sum := 0
	for _, n := range nodes {
		if n < 1 || n > most || sum > most {
			return nil, formatf("a tree of %d nodes", n)
		}
		sum += n
	}
	if sum == 0 {
		return nil, formatf("no trees")
	}
	const node = 17 // bytes
	if len(data) != node*sum {
		return nil, formatf("%d nodes take %d bytes, not %d", sum, node*sum, len(data))
	}
	all := tree{make([]int32, sum), make([]float32, sum), make([]int32, sum), make([]int8, sum), make([]float32, sum)}
	r := bytes.NewReader(data)
	for _, array := range all.arrays() {
		if err := binary.Read(r, binary.LittleEndian, array); err != nil && err != io.EOF {
			return nil, formatf("%v", err)
		}
	}
	trees := make([]tree, len(nodes))
	at := 0
	for k, n := range nodes {
		end := at + n
		trees[k] = tree{all.Feature[at:end:end], all.Value[at:end:end], all.Right[at:end:end], all.Missing[at:end:end],
			all.Gain[at:end:end]}
		at = end
	}
	return trees, nil
}
