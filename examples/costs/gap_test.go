package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/autotune/records"
)

// TestGap: a kernel is searched once, whatever layers have it, and what is known is not measured again; without a search the default schedule is compared with it.
func TestGap(t *testing.T) {
	t.Chdir("../..")
	dir := t.TempDir()
	out := filepath.Join(dir, "page")
	run := func(args ...string) (rows []kernelGap, measured int) {
		t.Helper()
		if err := gap(t.Context(), append([]string{"-target", "rpi3", "-search", "random", "-dir", dir, "-out", out}, args...)); err != nil {
			t.Fatal(err)
		}
		rows, err := readGaps(out)
		if err != nil {
			t.Fatal(err)
		}
		known, err := records.Load(filepath.Join(dir, "rpi3.records"))
		if err != nil {
			t.Fatal(err)
		}
		return rows, len(known.Records)
	}
	const layer = "examples/costs/small.json:few16_1x1_1"
	if rows, n := run("-known", layer); len(rows) != 0 || n != 0 {
		t.Errorf("%d kernels, %d records where nothing was known and nothing was to be searched", len(rows), n)
	}
	for _, args := range [][]string{{"-trials", "4", layer, layer}, {"-trials", "4", layer, layer}, {"-known", layer, layer}} {
		rows, n := run(args...)
		if len(rows) != 1 || n != 4 {
			t.Fatalf("%v: %d kernels, %d records", args, len(rows), n)
		}
		k := rows[0]
		if len(k.Layers) != 2 || k.tried() != 3 || k.Searches["random"] != 3 || k.Shape != "14x14x16 -> 14x14x64, 1x1, 1 bit by 1" || k.over() < 0 || k.Default.Cost <= 0 {
			t.Errorf("%v: %+v", args, k)
		}
	}
	page, err := os.ReadFile(out + ".md")
	if err != nil || !strings.Contains(string(page), ", LLVM's model of cortex-a53: 1 figure.\n\n1 kernels: the default schedule of ") {
		t.Errorf("%v\n%s", err, page)
	}
	if err := gap(t.Context(), []string{"-dir", dir, "examples/costs/small.json:nothing"}); err == nil || !strings.Contains(err.Error(), "no layer nothing") {
		t.Errorf("a layer that is not there: %v", err)
	}
}

// TestGapText: the worst comes first, and what differs is named.
func TestGapText(t *testing.T) {
	row := func(layer string, cost float64, values map[string]int) kernelGap {
		return kernelGap{Target: "rpi3", Layers: []string{layer, "n:too"}, Shape: "S", Algorithm: "popcount", Unit: "cycles", Searches: map[string]int{"xgb": 9},
			Default: point{cost, "words", map[string]int{"tile_w": 3, "unroll": 1}}, Best: point{100, "words", values}}
	}
	text := gapText([]kernelGap{row("n:a", 107, map[string]int{"tile_w": 3, "unroll": 1}), row("n:b", 120, map[string]int{"tile_w": 4, "unroll": 1})})
	for _, want := range []string{"\n## rpi3\n", "2 kernels: the default schedule of 0 is within 5 % of the best that was found, of 1 within 10 %, of 1 within 15 %. All together take 13.5 % more.",
		"---|\n| n:b and 1 more | S | popcount | 120 | 100 | 20.0 % | tile_w=4 for 3 | 9 xgb |\n| n:a and 1 more | S | popcount | 107 | 100 | 7.0 % | steps behind it | 9 xgb |\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q:\n%s", want, text)
		}
	}
}

// TestGapPage: the page is made of the figures that are kept.
func TestGapPage(t *testing.T) {
	t.Chdir("../..")
	was, err := os.ReadFile(gapPage + ".md")
	if err != nil {
		t.Fatal(err)
	}
	all, err := readGaps(gapPage)
	if err != nil || len(all) == 0 {
		t.Fatal(err, len(all))
	}
	if string(was) != gapText(all) {
		t.Errorf("%s.md is out of date; run go run ./examples/costs gap -known -out %[1]s", gapPage)
	}
}
