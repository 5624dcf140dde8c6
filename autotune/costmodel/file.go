package costmodel

import (
	"encoding/json"
	"math"
	"slices"
)

// Format is what files of this version call themselves.
const Format = "ripc.costmodel/1"

// file is a model in JSON.
type file struct {
	Format    string    `json:"format"`
	Objective Objective `json:"objective"`
	Features  []string  `json:"features"`
	Constant  float32   `json:"constant"`
	Trees     []tree    `json:"trees"`
}

// Encode is the model as JSON, which Decode reads. Equal models give equal bytes.
func (m *Model) Encode() []byte {
	text, err := json.Marshal(file{Format, m.objective, m.names, m.constant, m.trees})
	if err != nil {
		panic("BUG: a model has numbers that JSON has not: " + err.Error())
	}
	return append(text, '\n')
}

// Decode reads a model for features of the given names. It fails with *FormatError: features change from version to version, and a
// model of others says nothing of them.
func Decode(text []byte, names []string) (*Model, error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, formatf("%v", err)
	}
	switch {
	case f.Format != Format:
		return nil, formatf("format %q is not %q", f.Format, Format)
	case f.Objective != Rank && f.Objective != Squared:
		return nil, formatf("no objective %q", f.Objective)
	case !slices.Equal(f.Features, names):
		return nil, formatf("it was made for other features: %d, not %d, or of other names", len(f.Features), len(names))
	case len(f.Trees) == 0 || math.IsInf(float64(f.Constant), 0):
		return nil, formatf("no trees")
	}
	for k := range f.Trees {
		if !f.Trees[k].check(len(names)) {
			return nil, formatf("tree %d is none", k)
		}
	}
	return newModel(f.Objective, f.Features, f.Constant, f.Trees)
}
