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

// TestSmallTwins generates the small twin of every network and compares compiled code with its definition: the networks of each
// architecture here and on simulated boards, those that have shift_norm in both of its modes.
func TestSmallTwins(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range zoo.Networks() {
		first := !seen[n.Family]
		seen[n.Family] = true
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			small := n.Small()
			dir := t.TempDir()
			path, err := small.Write(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := small.Balance(path, 77, t.Output()); err != nil {
				t.Error(err)
			}
			for _, target := range on() {
				if first || target == targets.HostName {
					verified(t, path, target)
				}
			}
			if n.Riptide() && first {
				small.Mode = graph.ShiftExactRound
				path, err := small.Write(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				verified(t, path, targets.HostName)
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
