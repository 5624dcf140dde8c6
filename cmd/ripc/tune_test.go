package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"ripc/internal/need"
)

// TestTuneKilled kills a tuner again and again, in the middle of whatever it does, and starts it again: the records are those of a run
// that nobody disturbed.
func TestTuneKilled(t *testing.T) {
	need.Tool(t, "qemu-aarch64")
	dir := t.TempDir()
	self, err := os.Executable()
	need.OK(t, err)
	ripc := filepath.Join(dir, "ripc") // by which name the test's own program is the command (TestMain)
	if err := os.Symlink(self, ripc); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "net.json")
	if err := os.WriteFile(model, []byte(`{"format": "ripc.model/1", "name": "net",
 "inputs": [{"name": "x", "dtype": "u8", "encoding": "bipolar", "bits": 1, "shape": [1, 5, 5, 32], "layout": "NHWC"}],
 "weights": {"init": "random", "seed": 1},
 "nodes": [
  {"name": "conv", "op": "bitserial_conv2d", "inputs": ["x"], "attrs": {"filters": 32, "kernel": [3, 3], "weight_scale": "mean"}},
  {"name": "levels", "op": "quantize", "inputs": ["conv"], "attrs": {"bits": 1, "encoding": "bipolar", "scale": 1}}],
 "outputs": ["levels"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const trials, kills = 24, 10
	run := func(records string) *exec.Cmd {
		cmd := exec.Command(ripc, "tune", model, "--target", "rpi3", "--runner", "qemu", "--seed", "5", "--trials", strconv.Itoa(trials), "--records", records)
		cmd.Env = append(os.Environ(), "RIPC_CACHE_DIR="+filepath.Join(dir, "cache"))
		return cmd
	}
	whole, killed := filepath.Join(dir, "whole"), filepath.Join(dir, "killed")
	if out, err := run(whole).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(whole)
	if err != nil || bytes.Count(want, []byte("\n")) != trials {
		t.Fatalf("%d lines, %v", bytes.Count(want, []byte("\n")), err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	done := 0
	for ; done < kills; done++ {
		cmd := run(killed)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { cmd.Wait(); close(ended) }() // it is killed
		before := lines(killed)
		for lines(killed) < before+1+r.IntN(2) {
			select {
			case <-ended:
			case <-time.After(time.Millisecond):
				continue
			}
			break
		}
		time.Sleep(time.Duration(r.IntN(30)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil { // it came to its end
			break
		}
		<-ended
	}
	if out, err := run(killed).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := os.ReadFile(killed)
	if err != nil || done < kills/2 || !bytes.Equal(got, want) {
		t.Errorf("after %d kills, %v:\n%s\nwant\n%s", done, err, got, want)
	}
}

// lines counts those of a file that may not be there.
func lines(path string) int {
	data, _ := os.ReadFile(path)
	return bytes.Count(data, []byte("\n"))
}
