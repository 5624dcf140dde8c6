package e2e_test

import (
	"errors"
	"path/filepath"
	"testing"

	"ripc"
	"ripc/engine/simulate"
	"ripc/internal/need"
	"ripc/internal/tools"
)

// TestMachines: imported cases and the small example on RISC-V, LoongArch and WebAssembly, with 1 and 2 threads. make test
// takes a few for each machine.
func TestMachines(t *testing.T) {
	takes := need.Part(t, 121)
	machines := []string{"riscv64", "riscv64-v128", "riscv64-v256", "bpi-f3", "loongarch64", "wasm32", "wasm32-relaxed"}
	for i, path := range append(imported(t), "../examples/digits/digits.json") {
		for k, machine := range machines {
			if !takes(i + k) {
				continue
			}
			t.Run(machine+"/"+filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				tg, err := ripcTarget(machine)
				need.OK(t, err)
				if !sandboxed(tg) {
					need.Tool(t, "qemu-"+tg.Arch)
				} else if tg.Has("relaxed-simd") {
					_, err := tools.FindNode("for relaxed SIMD")
					need.OK(t, err)
				}
				threads := 1 + i%2
				rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: machine}, Seed: 5, Threads: threads})
				var old *simulate.SimulatorError // qemu 7 ends at conversions of vectors
				if errors.As(err, &old) && tg.Has("v") {
					t.Skip("skipped: ", err)
				}
				if err != nil {
					t.Fatal(err)
				}
				if !rep.OK {
					t.Errorf("%d threads: %s", threads, faults(rep))
				}
			})
		}
	}
}
