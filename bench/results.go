package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"ripc/measure/provenance"
)

// Results are the figures of a run.
type Results struct {
	provenance.Mark          // of all figures: a run keeps none of an earlier one
	Command         string   `json:"command"`
	Cores           int      `json:"cores"`
	System          string   `json:"system"`
	Load            float64  `json:"load"`   // measure.Load before it began
	GHz             float64  `json:"ghz"`    // of one core behind the kernels of the limits
	Rounds          int      `json:"rounds"` // in which all engines of a subject take turns
	Seconds         float64  `json:"seconds"`
	Versions        []string `json:"versions"`

	Limits   []LimitRate     `json:"limits"`
	Subjects []SubjectResult `json:"subjects"`
	// Missing are the entries that were not measured, and why.
	Missing []Missing `json:"missing"`
}

// LimitRate is the rate of a kernel of package limits in this run.
type LimitRate struct {
	Limit     string  `json:"limit"`
	Kernel    string  `json:"kernel"`
	What      string  `json:"what"`
	Threads   int     `json:"threads"`
	PerCycle  float64 `json:"macs_per_cycle"`  // of all threads, in cycles of one core
	PerSecond float64 `json:"macs_per_second"` // of all threads
}

// SubjectResult has the figures of a subject.
type SubjectResult struct {
	Name    string   `json:"name"`
	What    string   `json:"what"`
	MACs    int64    `json:"macs"`
	Figures []Figure `json:"figures"`
}

// Figure is the time of one engine.
type Figure struct {
	Engine   string  `json:"engine"`
	Model    string  `json:"model"`
	Threads  int     `json:"threads"`
	MinMS    float64 `json:"min_ms"`
	MedianMS float64 `json:"median_ms"`
	Runs     int     `json:"runs"`
	// Products are the multiply-adds of a run by the limit that they have: for sums of bits, one
	// for each pair of bits.
	Products map[string]int64 `json:"products"`
	Inputs   [][]int          `json:"inputs"`
	Outputs  [][]int          `json:"outputs"`
}

// Missing is an entry that was not measured.
type Missing struct {
	Subject string `json:"subject"`
	Engine  string `json:"engine"`
	Threads int    `json:"threads,omitempty"` // 0: any number
	Why     string `json:"why"`
}

// best is the highest rate of a limit, in multiply-adds a second, 0 if the machine has no kernel
// for it.
func (r *Results) best(limit string, threads int) float64 {
	var best float64
	for _, l := range r.Limits {
		if l.Limit == limit && l.Threads == threads {
			best = max(best, l.PerSecond)
		}
	}
	return best
}

// boundMS is the least time in which this machine can do a figure's products, one limit after the
// other; 0 if that is not known.
func (r *Results) boundMS(f Figure) float64 {
	var ms float64
	for limit, n := range f.Products {
		rate := r.best(limit, f.Threads)
		if n > 0 && rate == 0 {
			return 0
		}
		if n > 0 {
			ms += 1000 * float64(n) / rate
		}
	}
	return ms
}

// figure reduces the times of all rounds.
func figure(times []time.Duration) (minMS, medianMS float64) {
	sorted := slices.Sorted(slices.Values(times))
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	return ms(sorted[0]), ms(sorted[(len(sorted)-1)/2])
}

// read reads a file that write wrote.
func read(file string) (*Results, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Results{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

func (r *Results) write(file string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
