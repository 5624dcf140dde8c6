package zoo_test

import (
	"path/filepath"
	"testing"

	"ripc"
	"ripc/examples/networks/zoo"
	"ripc/graph"
	"ripc/internal/need"
	"ripc/targets"
)

// on are the targets that small twins are compared on.
func on() []string { return []string{targets.HostName, "rpi3", "rpi3-armv7"} }

// TestSmallTwins generates the small twin of every network and compares compiled code with its definition, here and on simulated boards:
// those that have shift_norm in both of its modes. In make test, every third network is on one of the targets.
func TestSmallTwins(t *testing.T) {
	takes := need.Part(t, 3)
	for i, n := range zoo.Networks() {
		if !takes(i) {
			continue
		}
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			small := n.Small()
			path, err := small.Write(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if err := small.Balance(path, pictures(), 77, t.Output()); err != nil {
				t.Error(err)
			}
			paths := []string{path}
			if n.Riptide() {
				small.Mode = graph.ShiftExactRound
				if path, err = small.Write(t.TempDir()); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, path)
			}
			for _, path := range paths {
				for k, target := range on() {
					if takes(i/3 + k) {
						verified(t, path, target)
					}
				}
			}
		})
	}
}

// verified compares the network in a file.
func verified(t *testing.T, path, target string) {
	t.Helper()
	report, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: path, Options: ripc.Options{Target: target}, Threads: 1})
	need.OK(t, err)
	if !report.OK {
		t.Errorf("%s on %s: %+v", filepath.Base(path), target, report)
	}
}
