package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"ripc/autotune/records"
	"ripc/measure/provenance"
)

// kernelGap is what is known of the schedules of a kernel.
type kernelGap struct {
	Target          string         `json:"target"`
	Layers          []string       `json:"layers"` // NETWORK:LAYER of all that have it
	Shape           string         `json:"shape"`
	Algorithm       string         `json:"algorithm"`
	Unit            string         `json:"unit"`
	provenance.Mark                // of the default schedule
	Default         point          `json:"default"`
	Best            point          `json:"best"`
	Searches        map[string]int `json:"searches"` // schedules that each has proposed
}

// point is a schedule of a layer.
type point struct {
	Cost     float64        `json:"cost"`
	Strategy string         `json:"strategy"`
	Values   map[string]int `json:"values"`
}

// pointOf is what a record is of.
func pointOf(r records.Record) point {
	return point{Cost: r.Result.Cost, Strategy: r.Candidate.Strategy, Values: r.Candidate.Values}
}

// over is by how much of the best the default costs more.
func (k kernelGap) over() float64 { return k.Default.Cost/k.Best.Cost - 1 }

// shares says that a layer has both kernels, or had one and has the other now.
func (k kernelGap) shares(other kernelGap) bool {
	return slices.ContainsFunc(k.Layers, func(l string) bool { return slices.Contains(other.Layers, l) })
}

// differs lists what the best schedule has otherwise than the default one.
func (k kernelGap) differs() string {
	var out []string
	if k.Best.Strategy != k.Default.Strategy {
		out = append(out, k.Best.Strategy+" for "+k.Default.Strategy)
	}
	for _, name := range slices.Sorted(maps.Keys(k.Best.Values)) {
		was, ok := k.Default.Values[name]
		switch now := k.Best.Values[name]; {
		case !ok:
			out = append(out, fmt.Sprintf("%s=%d", name, now))
		case now != was:
			out = append(out, fmt.Sprintf("%s=%d for %d", name, now, was))
		}
	}
	if len(out) == 0 && k.over() > 0 {
		return "steps behind it"
	}
	return strings.Join(out, ", ")
}

func (k kernelGap) String() string {
	return fmt.Sprintf("%5.1f %%  %-30s %s by %s, %s: %.0f, best %.0f of %d: %s", 100*k.over(), k.Layers[0], k.Shape, k.Algorithm, k.Target, k.Default.Cost, k.Best.Cost, k.tried(), k.differs())
}

// tried is the number of schedules beside the default one.
func (k kernelGap) tried() int {
	n := 0
	for _, of := range k.Searches {
		n += of
	}
	return n
}

// by are the searches, for people.
func (k kernelGap) by() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(k.Searches)) {
		out = append(out, fmt.Sprintf("%d %s", k.Searches[name], name))
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

// sortedGaps has the worst first, of each target, in the order in which these are there.
func sortedGaps(all []kernelGap) []kernelGap {
	order := targetsOf(all)
	return slices.SortedStableFunc(slices.Values(all), func(a, b kernelGap) int {
		return cmp.Or(slices.Index(order, a.Target)-slices.Index(order, b.Target), cmp.Compare(b.over(), a.over()), strings.Compare(a.Layers[0], b.Layers[0]))
	})
}

func targetsOf(all []kernelGap) []string {
	var out []string
	for _, k := range all {
		if !slices.Contains(out, k.Target) {
			out = append(out, k.Target)
		}
	}
	return out
}

// readGaps reads what writeGaps has written under a name; nothing of no name, and where nothing is.
func readGaps(name string) ([]kernelGap, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []kernelGap
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

// writeGaps writes NAME.json, a line for each kernel, and NAME.md.
func writeGaps(name string, all []kernelGap) error {
	slices.SortStableFunc(all, func(a, b kernelGap) int { return strings.Compare(a.Target, b.Target) })
	all = sortedGaps(all)
	var lines []string
	for _, k := range all {
		line, err := json.Marshal(k)
		if err != nil {
			return err
		}
		lines = append(lines, "\n  "+string(line))
	}
	text := "[" + strings.Join(lines, ",") + "\n]\n"
	return errors.Join(os.WriteFile(name+".json", []byte(text), 0o644), os.WriteFile(name+".md", []byte(gapText(all)), 0o644))
}

// gapText is the page.
func gapText(all []kernelGap) string {
	var b strings.Builder
	fmt.Fprint(&b, `# Default schedules

How far the schedule that ripc takes by itself is from the best that is known of its kernel. Kernels are those of SqueezeNet of 1, 2 and 3 bits, QuickNet and ResNet-18 of
1 bit, and of examples/costs/small.json, whose layers have few channels or groups: each different one once, of stages that compute sums, by the algorithm that the layer has without a tuner.

    make defaults                                            # rpi3 and rpi4, at low priority; it can be interrupted
    make defaults DEFAULTS="-target host"                    # this machine, which has to be quiet
    make defaults DEFAULTS="-search random -trials 2000"     # another reference
    make defaults DEFAULTS=-known                            # after a change of defaults: what they cost now beside what was known

What is measured lies in build/gap. The reference is *the best that searches found, not the best that there is*: "tried" says how many schedules of
which search there were beside the default one, and a kernel that no search has looked at is not listed. `+"`xgb`"+` proposes by the cost model that comes with ripc, and may add steps that no strategy takes;
[bench-tuner.md](bench-tuner.md) says how far what it finds in 16, 32 and 128 trials ("shipped", "xgb") is from the best of 2,000 random schedules. Costs of boards are estimated cycles ([estimates.md](estimates.md))
of one thread: that blocks of rows are shared by four, which default schedules see to, counts against them. What is compared shares rows otherwise where the best has other rows (`+"`tile_h`"+`): one block of all rows is the best for one thread
of most layers, and leaves the others nothing to do. Kernels with "random" have been searched by `+"`go run ./examples/costs gap -target T -search random -trials N NETWORK:LAYER`"+`, all of this machine with 350 trials or more, others with up to 2,000: where there are fewer
than those, the space has no more of them, or the search was stopped. Times are those of the default and of what seems the best, taken in turn ([tuning.md](tuning.md)),
but for default schedules that are newer than the search (`+"`-known`"+`), whose times are of another hour.
`)
	for _, target := range targetsOf(all) {
		var of []kernelGap
		for _, k := range all {
			if k.Target == target {
				of = append(of, k)
			}
		}
		gapSection(&b, target, sortedGaps(of))
	}
	return b.String()
}

// gapSection is what the page says of a target.
func gapSection(b *strings.Builder, target string, all []kernelGap) {
	within := func(most float64) int {
		n := 0
		for _, k := range all {
			if k.over() <= most {
				n++
			}
		}
		return n
	}
	usual, best := 0.0, 0.0
	for _, k := range all {
		usual, best = usual+k.Default.Cost, best+k.Best.Cost
	}
	var marks []provenance.Mark
	for _, k := range all {
		marks = append(marks, k.Mark)
	}
	fmt.Fprintf(b, "\n## %s\n\nOne thread. %s\n\n%d kernels: the default schedule of %d is within 5 %% of the best that was found, of %d within 10 %%, of %d within 15 %%. All together take %.1f %% more.\n\n"+
		"| layers | shape | algorithm | default, %s | best | above it | what the best has | tried |\n|---|---|---|---:|---:|---:|---|---|\n",
		target, provenance.Text(marks), len(all), within(0.05), within(0.10), within(0.15), 100*(usual/best-1), all[0].Unit)
	for _, k := range all {
		more := ""
		if n := len(k.Layers) - 1; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(b, "| %s%s | %s | %s | %.0f | %.0f | %.1f %% | %s | %s |\n", k.Layers[0], more, k.Shape, k.Algorithm, k.Default.Cost, k.Best.Cost, 100*k.over(), k.differs(), k.by())
	}
}
