package costmodel

import (
	"encoding/json"
	"slices"
)

// Format is the format name in files of this version.
const Format = "ripc.costmodel/1"

// file is a model in JSON.
type file struct {
	Format    string    `json:"format"`
	Objective Objective `json:"objective"`
	Features  []string  `json:"features"`
	Constant  float32   `json:"constant"`
	Trees     []tree    `json:"trees"`
}

// Encode returns the model as JSON, which Decode reads. Equal models give equal bytes.
func (m *Model) Encode() []byte {
	text, err := json.Marshal(file{Format, m.objective, m.names, m.constant, m.trees})
	if err != nil {
		panic("BUG: a model has numbers that JSON has not: " + err.Error())
	}
	return append(text, '\n')
}

// Decode reads a model for features of the given names. These may be more than the model's, in another
// order. It fails with *FormatError, also if the model uses a feature that is not among them.
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
	case len(f.Trees) == 0:
		return nil, formatf("no trees")
	}
	places := make([]int32, len(f.Features)) // in names, -1 of those that are not there
	for i, name := range f.Features {
		places[i] = int32(slices.Index(names, name))
	}
	for k := range f.Trees {
		t := &f.Trees[k]
		if !t.check(len(f.Features)) {
			return nil, formatf("tree %d is none", k)
		}
		for i, feature := range t.Feature {
			if feature == leaf {
				continue
			}
			if places[feature] < 0 {
				return nil, formatf("it asks for the feature %q, which there is no more", f.Features[feature])
			}
			t.Feature[i] = places[feature]
		}
	}
	return newModel(f.Objective, names, f.Constant, f.Trees)
}
