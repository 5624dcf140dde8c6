// Command ablation measures what each of ripc's optimizations is worth: on SqueezeNet with 1-bit activations, added one after the other
// and left out one by one, as Riptide's Figures 8 and 5 do; glue's share of the time of whole networks; binary convolutions beside those of 8
// bits and of floats, as Larq Compute Engine's Figures 2 and 3 and its Tables 1 and 2 do; and the networks of Riptide's Table 1. It runs in the
// module's root:
//
//	go run ./examples/ablation [-targets host,rpi3,rpi4] [-sample N] [-anew]
//
// On this machine it measures time, on simulated boards cycles that are estimated (docs/estimates.md). What it finds it keeps in
// docs/ablation.json, from which it writes docs/ablation.md and docs/ablation.svg. Stopped, it goes on there the next time.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ripc/internal/svg"
	"ripc/measure"
	"ripc/measure/provenance"
	"ripc/targets"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "ablation:", err)
		os.Exit(1)
	}
}

// results are all that was measured. Figures that are there already are not measured again.
type results struct {
	Figures []figure `json:"figures"`
}

// figure is what a network costs on a target.
type figure struct {
	Target  string  `json:"target"`
	Network string  `json:"network"`
	Variant string  `json:"variant"` // what is on (set.String), or floatTwin
	Cost    float64 `json:"cost"`
	Unit    string  `json:"unit"`
	MACs    int64   `json:"macs"`
	Threads int     `json:"threads"`
	// Load is that of the machine before a time was measured.
	Load float64 `json:"load,omitempty"`
	provenance.Mark
	// Glue is the share of stages that are neither convolutions nor dense layers, 0 to 1; of networks that were measured by stages.
	Glue *float64 `json:"glue,omitempty"`
}

func (r *results) find(target, network, variant string) *figure {
	for i := range r.Figures {
		if f := &r.Figures[i]; f.Target == target && f.Network == network && f.Variant == variant {
			return f
		}
	}
	return nil
}

func run(ctx context.Context) error {
	list := flag.String("targets", "host,rpi3,rpi4", "targets to measure")
	sample := flag.Int("sample", 0, "of the convolutions, measure so many only; 0 for all")
	anew := flag.Bool("anew", false, "measure again what docs/ablation.json has of these targets")
	page := flag.Bool("page", false, "do not measure, write the page and the picture from the figures that there are")
	out := flag.String("out", "docs/ablation", "where .json, .md and .svg go")
	flag.Parse()
	r, err := readResults(*out + ".json")
	if err != nil {
		return err
	}
	if *page {
		return r.write(*out)
	}
	names := strings.Split(*list, ",")
	r.Figures = slices.DeleteFunc(r.Figures, func(f figure) bool {
		return slices.Contains(names, f.Target) && (*anew || f.Target == targets.HostName && f.CPU != measure.CPU())
	})
	dir := filepath.Join("build", "ablation")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	tasks, err := allTasks(names, dir, *sample)
	if err != nil {
		return err
	}
	for i, t := range tasks {
		if r.find(t.target, t.network, t.variant) != nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "%d of %d: %s on %s, %s\n", i+1, len(tasks), t.network, t.target, t.variant)
		f, err := t.measure(ctx)
		if err != nil {
			return fmt.Errorf("%s on %s, %s: %w", t.network, t.target, t.variant, err)
		}
		r.Figures = append(r.Figures, f)
		if err := r.write(*out); err != nil {
			return err
		}
	}
	return r.write(*out)
}

// readResults reads what was measured before; there may be nothing.
func readResults(file string) (*results, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &results{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := &results{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// write writes the figures, the page and the picture.
func (r *results) write(out string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	picture := r.bars()
	if err := svg.Finite([]byte(picture)); err != nil {
		return err
	}
	for ext, text := range map[string]string{".json": string(data) + "\n", ".md": r.page(), ".svg": picture} {
		if err := os.WriteFile(out+ext, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
