// Command networks writes the networks of the literature as ripc models: JSON, and statistics in
// small safetensors files. All other weights are generated from a seed by whoever reads the model.
// From the repository's root:
//
//	go run ./examples/networks -list
//	go run ./examples/networks -o build/networks resnet18_a1 alexnet_a2_bipolar
//	go run ./examples/networks -o build/networks -small all      # the small twins, NAME_32
//	go run ./examples/networks -committed      # examples/squeezenet and examples/convs
//
// The same program gives the same files. It prints how balanced the bits of every layer are on
// inputs that it took no statistics of, and fails if a layer is out of balance.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"ripc/examples/networks/zoo"
)

func main() {
	list := flag.Bool("list", false, "list the networks")
	out := flag.String("o", "build/networks", "folder to write to")
	small := flag.Bool("small", false, "write the small twins of the networks named")
	committed := flag.Bool("committed", false, "write the files of examples/squeezenet and examples/convs")
	quiet := flag.Bool("q", false, "do not print the balance of each layer")
	flag.Parse()
	var log io.Writer = os.Stdout
	if *quiet {
		log = io.Discard
	}
	if err := run(*list, *small, *committed, *out, flag.Args(), log); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(list, small, committed bool, out string, names []string, log io.Writer) error {
	switch {
	case list:
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		for _, n := range zoo.Networks() {
			fmt.Fprintf(w, "%s\t%s\t%s\n", n.Name, n.Paper, n.Note)
		}
		return w.Flush()
	case committed:
		return zoo.WriteCommitted("examples", zoo.Committed())
	}
	if len(names) == 0 {
		return fmt.Errorf("name networks, or all; -list has them")
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	if len(names) == 1 && names[0] == "all" {
		names = nil
		for _, n := range zoo.Networks() {
			names = append(names, n.Name)
		}
	}
	for _, name := range names {
		n, err := zoo.Find(name)
		if err != nil {
			return err
		}
		if small {
			n = n.Small()
		}
		path, err := n.Write(out)
		if err != nil {
			return err
		}
		fmt.Println(path)
		if err := n.Balance(path, 8, 1, log); err != nil {
			return err
		}
	}
	return nil
}
