package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"ripc/autotune/records"
	"ripc/measure/provenance"
)

// gain is what tuning brought a network: the costs of all its kernels together. Records alone do
// not tell, since a network takes a kernel as often as it has a layer of its shape, and one
// algorithm for each.
type gain struct {
	Target  string       `json:"target"`
	Network string       `json:"network"`
	Trials  int          `json:"trials"`
	Unit    records.Unit `json:"unit"`
	Default float64      `json:"default"`
	Best    float64      `json:"best"`
	provenance.Mark
}

// readGains reads a file that writeGains has written; one that is not there has none.
func readGains(path string) ([]gain, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []gain
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// writeGains writes a line for each.
func writeGains(path string, all []gain) error {
	var b bytes.Buffer
	b.WriteString("[\n")
	for i, g := range all {
		line, err := json.Marshal(g)
		if err != nil {
			return err
		}
		b.WriteString("  " + string(line))
		if i < len(all)-1 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("]\n")
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// with is all with g instead of what there was of its run, in the order of runs.
func with(all []gain, g gain, runs []run) []gain {
	var out []gain
	for _, r := range runs {
		if r.Target == g.Target && r.Network == g.Network {
			out = append(out, g)
			continue
		}
		if i := slices.IndexFunc(all, func(x gain) bool { return x.Target == r.Target && x.Network == r.Network }); i >= 0 {
			out = append(out, all[i])
		}
	}
	return out
}
