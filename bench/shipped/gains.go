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

// gain is the effect of tuning on a network: the costs of all its kernels together. Records alone
// do not tell, since several layers of a network may use one kernel, and each has one algorithm.
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

// replaceGain returns all, with g in the place of its run, in the order of runs.
func replaceGain(all []gain, g gain, runs []run) []gain {
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
