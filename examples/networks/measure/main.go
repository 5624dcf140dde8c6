// Command measure compiles the networks of examples/networks, and compares or measures them on this machine:
//
//	go run ./examples/networks/measure -verify             # each network against its definition, with the time to compile it
//	go run ./examples/networks/measure                     # docs/networks.json, and the table in docs/networks.md
//	go run ./examples/networks/measure -pages              # only the table, from docs/networks.json
//	go run ./examples/networks/measure -only '^resnet18'   # these rows anew, beside the others as they are
//
// Models and libraries are written to build/networks. A network, its float twin and onnxruntime take turns, several rounds; the least time
// counts. A measurement that was stopped goes on where it was, on the same day. onnxruntime runs the same float network where a Python has it: that of make bench-peers, or python3.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"

	"ripc/examples/networks/zoo"
)

func main() {
	var f flags
	flag.BoolVar(&f.verify, "verify", false, "compare each network with its definition on this machine")
	flag.BoolVar(&f.pages, "pages", false, "only write the table, from the JSON")
	only := flag.String("only", "", "regular expression of networks' names; those of the table without")
	flag.StringVar(&f.json, "json", "docs/networks.json", "where figures go; the table in docs/networks.md is made of docs/networks.json")
	flag.StringVar(&f.dir, "dir", "build/networks", "folder for models and libraries")
	flag.IntVar(&f.rounds, "rounds", 3, "measurements of each network")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := f.run(ctx, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// network is one to be measured: its name, and what gives its file, which may write it into a folder. Of one that was trained there are
// pictures and their classes, .npy files.
type network struct {
	name             string
	model            func(dir string) (string, error)
	pictures, labels string
}

// trained are the networks with weights that were trained: on the digits of examples/digits, by examples/digits and by the training twin.
func trained() (all []network) {
	const data = "examples/digits/data"
	add := func(name, path string) {
		model := func(string) (string, error) { return path, nil }
		all = append(all, network{name, model, filepath.Join(data, "x_test.npy"), filepath.Join(data, "y_test.npy")})
	}
	add("digits", "examples/digits/digits.json")
	for _, encoding := range []string{"unipolar", "bipolar"} {
		for bits := range 3 {
			name := fmt.Sprintf("%s%d", encoding, bits+1)
			add("digits_"+name, filepath.Join("testdata", "twin", name+".json"))
		}
	}
	return all
}

type flags struct {
	verify, pages bool
	json, dir     string
	rounds        int
}

func (f flags) run(ctx context.Context, only string) error {
	if f.pages {
		return writePage(f.json, page)
	}
	var names *regexp.Regexp
	if only != "" {
		var err error
		if names, err = regexp.Compile(only); err != nil {
			return err
		}
	}
	var chosen []network
	for _, n := range zoo.Networks() {
		if names == nil && n.Listed || names != nil && names.MatchString(n.Name) {
			chosen = append(chosen, network{name: n.Name, model: n.Write})
		}
	}
	for _, n := range trained() {
		if names == nil || names.MatchString(n.name) {
			chosen = append(chosen, n)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no network's name matches %s", only)
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	if f.verify {
		return f.compare(ctx, chosen)
	}
	t, err := f.measure(ctx, chosen)
	if err != nil {
		return err
	}
	if names != nil {
		t.keep(f.json)
	}
	if err := t.write(f.json); err != nil || f.json != "docs/networks.json" {
		return err
	}
	return writePage(f.json, page)
}
