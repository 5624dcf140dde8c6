package e2e_test

import (
	"bytes"
	"context"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/targets"
)

// TestBoardsGiveTheHostsBits runs whole networks for boards under qemu: every output must have the bits that this
// machine computes. make test runs the large one on one board.
func TestBoardsGiveTheHostsBits(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, path, target string) *ripc.RunResult {
		t.Helper()
		r, err := ripc.Run(context.Background(), ripc.RunRequest{Path: path, Options: ripc.Options{Target: target}, Seed: 3, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	takes := need.Part(t, 3)
	for k, path := range []string{"../examples/digits/digits.json", "../examples/squeezenet/squeezenet.json"} {
		want := run(t, path, targets.HostName)
		for i, board := range []string{"rpi5", "rpi2", "rpi3-armv7"} {
			if !takes(k * i) {
				continue
			}
			t.Run(want.Name+"/"+board, func(t *testing.T) {
				tg, err := targets.Lookup(board)
				if err != nil {
					t.Fatal(err)
				}
				need.Tool(t, "qemu-"+tg.Arch)
				got := run(t, path, board)
				for i := range want.Outputs {
					if !bytes.Equal(got.Outputs[i].Data, want.Outputs[i].Data) {
						t.Errorf("output %d differs", i)
					}
				}
			})
		}
	}
}
