// Command speed compares binary SqueezeNet with its float twin, layer by layer, in one run on this machine:
//
//	go run ./examples/squeezenet/speed [-threads N]
//
// The networks take turns, several rounds; the least time of each layer counts. It exits with 1 if a convolution is
// slower than its twin.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"

	"ripc"
	"ripc/measure/provenance"
)

func main() {
	threads := flag.Int("threads", 1, "threads")
	rounds := flag.Int("rounds", 3, "measurements of each network")
	dir := flag.String("dir", "examples/squeezenet", "folder of the networks")
	flag.Parse()
	if err := run(*dir, *threads, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string, threads, rounds int) error {
	names := []string{"squeezenet_float", "squeezenet", "squeezenet_a2", "squeezenet_a3"}
	best := make([]map[string]float64, len(names))
	var order []string
	for range rounds {
		for i, n := range names {
			r, err := ripc.Bench(context.Background(), ripc.BenchRequest{Path: filepath.Join(dir, n+".json"), Threads: threads, PerLayer: true})
			if err != nil {
				return err
			}
			if best[i] == nil {
				best[i] = map[string]float64{}
			}
			lower(best[i], "whole network", r.MinMS)
			for _, l := range r.Layers {
				if l.MACs > 0 {
					if _, seen := best[i][l.Name]; !seen && i == 0 {
						order = append(order, l.Name)
					}
					lower(best[i], l.Name, l.MinMS)
				}
			}
		}
	}
	return table(best, append(order, "whole network"))
}

func lower(m map[string]float64, key string, ms *float64) {
	if old, ok := m[key]; ms != nil && (!ok || *ms < old) {
		m[key] = *ms
	}
}

func table(best []map[string]float64, order []string) error {
	fmt.Printf("%s\n\n", provenance.Now())
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "layer\tfloat ms\t1 bit ms\t2 bits ms\t3 bits ms\tratio\tratio\tratio\t")
	var slow []string
	for _, l := range order {
		fmt.Fprintf(w, "%s\t", l)
		for _, m := range best {
			fmt.Fprintf(w, "%.4f\t", m[l])
		}
		for _, m := range best[1:] {
			fmt.Fprintf(w, "%.1fx\t", best[0][l]/m[l])
		}
		fmt.Fprintln(w)
		if best[1][l] > best[0][l] {
			slow = append(slow, l)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(slow) > 0 {
		return fmt.Errorf("slower than the float twin at 1 bit: %v", slow)
	}
	return nil
}
