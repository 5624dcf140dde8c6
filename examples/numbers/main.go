// Command numbers measures what the documents say of ripc's speed and size, in one run on this machine, and writes it to
// docs/numbers.json. From there it fills docs/numbers.md and the parts of other pages between the lines
// "<!-- numbers: NAME begin -->" and "<!-- numbers: NAME end -->".
//
//	make numbers                          // all of it, some minutes
//	go run ./examples/numbers -pages      // only the pages, from docs/numbers.json
//
// Times are those of the machine that it runs on, which should do nothing else. The test of this package compares the pages
// with the file; nothing fails because of a time.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	rounds := flag.Int("rounds", 3, "measurements of each figure, in turn with the others")
	pagesOnly := flag.Bool("pages", false, "do not measure, fill the pages from docs/numbers.json")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *rounds, *pagesOnly); err != nil {
		fmt.Fprintln(os.Stderr, "numbers:", err)
		os.Exit(1)
	}
}

// run works in the top folder of the module.
func run(ctx context.Context, rounds int, pagesOnly bool) error {
	file := filepath.Join("docs", "numbers.json")
	if !pagesOnly {
		n, err := measured(ctx, rounds)
		if err != nil {
			return err
		}
		data, err := json.MarshalIndent(n, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	n, err := read(file)
	if err != nil {
		return err
	}
	pages, err := fill(".", n)
	if err != nil {
		return err
	}
	for page, text := range pages {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
