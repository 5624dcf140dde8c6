package simulate_test

import (
	"bytes"
	"context"
	"testing"

	"ripc/engine/simulate"
	"ripc/runtime/describe"
)

// TestOutputsOfEachJob looks at the outputs in the middle of a chain, and begins one with outputs of its own.
func TestOutputsOfEachJob(t *testing.T) { both(t, testOutputsOfEachJob) }

func testOutputsOfEachJob(t *testing.T, d *describe.Artifact) {
	m := open(t, build(t, d, nil), simulate.Options{})
	in, arena, out := inputs(t, m.Description(), 3)
	mine := bytes.Repeat([]byte{9}, 4096)
	got, err := m.Run(context.Background(), []simulate.Job{
		{Inputs: in, Outputs: [][]byte{mine}, First: 0, Last: 1, Threads: 2, Keep: true},
		{Continue: true, First: 1, Last: 2, Threads: 2, Keep: true},
		{Continue: true, First: 0, Last: 1, Threads: 1},
		{Inputs: in, Outputs: [][]byte{mine}, Workspace: arena, First: 1, Last: 2, Threads: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][]byte{mine, out, out, out} {
		if !bytes.Equal(got[k].Outputs[0], want) {
			t.Errorf("job %d: wrong outputs", k)
		}
	}
	for _, bad := range [][][]byte{{}, {mine[1:]}} {
		if _, err := m.Run(context.Background(), []simulate.Job{{Inputs: in, Outputs: bad, Last: 2, Threads: 1}}); err == nil {
			t.Errorf("%d outputs are taken", len(bad))
		}
	}
}
