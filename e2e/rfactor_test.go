package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/targets"
)

// TestLanesOfTheSum runs a dense layer of ten outputs, too few to be lanes, with the schedule of docs/schedule.md, in which
// sixteen words of the sum are.
func TestLanesOfTheSum(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/schedule.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(doc), "<!-- schedule: dense10 -->\n```text\n")
	text, _, ok2 := strings.Cut(text, "```")
	if !ok || !ok2 {
		t.Fatal("../docs/schedule.md has no schedule dense10")
	}
	dir := t.TempDir()
	file, model := filepath.Join(dir, "d.schedule"), filepath.Join(dir, "d.json")
	for path, text := range map[string]string{file: text, model: `{"format": "ripc.model/1", "name": "d",
 "inputs": [{"name": "x", "dtype": "u32", "packed": true, "shape": [1, 4096], "encoding": "bipolar", "bits": 1}],
 "weights": {"init": "random", "seed": 1},
 "nodes": [{"name": "fc", "op": "bitserial_dense", "inputs": ["x"], "attrs": {"units": 10}}], "outputs": ["fc"]}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	traces, err := ripc.ReadSchedule(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, board := range []string{"host", "x86-64", "rpi4", "rpi2"} {
		tg, err := ripcTarget(board)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := targets.Host(); err != nil || h.Arch != tg.Arch {
			if tg.QemuCPU == "" || tg.Arch == "x86_64" {
				continue // there is no simulation of x86 elsewhere
			}
			need.Tool(t, "qemu-"+tg.Arch)
		}
		rep, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: model, Options: ripc.Options{Target: board, Schedules: traces}, Threads: 1})
		if err != nil || !rep.OK {
			t.Errorf("%s: %v %v", board, err, rep)
		}
	}
}
