package e2e_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/recognize"
	"ripc/runtime/npy"
	"ripc/targets"
)

const fewBitsFolder = "../testdata/fewbits"

// fewBitsNetwork is a network of testdata/fewbits/index.json: few bits that f32 rounds, or that no function of one tensor shows.
type fewBitsNetwork struct {
	Name, What string
	Share      float64  // of the multiply-accumulates that are meant to be bitserial
	Roundings  []string // codes of what differs from the file by rounding
	Atol       float64
}

// TestFewBits runs the networks of testdata/fewbits: as bitserial as they are meant, near what onnxruntime makes of them, their
// roundings named, and compiled code equal to the interpreter.
func TestFewBits(t *testing.T) {
	takes := need.Part(t, 3)
	for i, n := range readIndex[struct{ Networks []fewBitsNetwork }](t, fewBitsFolder).Networks {
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(fewBitsFolder, n.Name+".onnx")
			in, err := ripc.Inspect(context.Background(), path, ripc.Options{}, "", false)
			if err != nil {
				t.Fatal(err)
			}
			if share := float64(in.BinaryMACs) / float64(in.MACs); share < n.Share {
				t.Errorf("%s: %.2f of the MACs are bitserial, want %.2f", n.What, share, n.Share)
			}
			var codes []string
			for _, r := range in.Roundings {
				codes = append(codes, r.Code)
			}
			slices.Sort(codes)
			if codes = slices.Compact(codes); !slices.Equal(codes, n.Roundings) {
				t.Errorf("%s: roundings %v, want %v", n.What, codes, n.Roundings)
			}
			want, err := npy.ReadFile(filepath.Join(fewBitsFolder, n.Name+".out.npy"))
			if err != nil {
				t.Fatal(err)
			}
			for _, exact := range []bool{false, true} {
				o := ripc.Options{Target: targets.HostName, Recognize: recognize.Options{ExactFloats: exact}}
				got, err := ripc.Run(context.Background(), ripc.RunRequest{Path: path, Options: o, Threads: 1, Engine: ripc.EngineInterp, Inputs: []string{filepath.Join(fewBitsFolder, n.Name+".in.npy")}})
				if err != nil {
					t.Fatal(err)
				}
				compareOutput(t, got.Outputs[0], want, n.Atol, 0)
			}
			for _, target := range hostOrBoard(i, takes) {
				needTarget(t, target)
				report, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: target}, Threads: 1})
				if err != nil {
					t.Fatal(err)
				}
				if !report.OK {
					t.Errorf("on %s: %+v", target, report)
				}
			}
		})
	}
}
