package e2e_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
)

// TestTwin: networks that were trained with twin (docs/twin.md) give, compiled for this machine, a board of 64 and one of 32 bits in
// turn, the integers that the twin's evaluation gave, on all 360 digits. Those of the digits network are right about as many as when they were trained.
func TestTwin(t *testing.T) {
	_, err := ripc.LLVM()
	need.OK(t, err)
	const folder = "../testdata/twin"
	networks := map[string]int{ // how many digits they are right about at least
		"unipolar1": 340, "unipolar2": 350, "unipolar3": 350, "bipolar1": 340, "bipolar2": 350, "bipolar3": 350,
		"patterns": 0, "reactnet": 0, "quantizers": 0, "shortcuts": 0, // every layer of the package, hardly trained
	}
	found, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(found) != len(networks) {
		t.Fatalf("%d networks in %s, %v; want %d", len(found), folder, err, len(networks))
	}
	takes := need.Part(t, 3)
	for i, name := range slices.Sorted(maps.Keys(networks)) {
		least := networks[name]
		for _, target := range hostOrBoard(i, takes) {
			t.Run(name+" "+target, func(t *testing.T) {
				t.Parallel()
				const data = "../examples/digits/data/"
				sameIntegers(t, filepath.Join(folder, name), target, data+"x_test.npy", data+"y_test.npy", 360, least)
			})
		}
	}
}

// sameIntegers fails unless the compiled network at path gives the twin's integers for all pictures, and is right about the given number.
func sameIntegers(t *testing.T, path, target, pictures, answers string, count, least int) {
	t.Helper()
	res, err := ripc.Eval(t.Context(), ripc.EvalRequest{
		Run:    ripc.RunRequest{Path: path + ".json", Options: ripc.Options{Target: target}, Threads: 1, Inputs: []string{pictures}},
		Labels: answers, Expect: path + "_logits.npy",
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := res.Difference; res.Images != count || d.Worst != 0 {
		t.Errorf("%d images, %+v", res.Images, d)
	}
	if res.Right.Top1 < least {
		t.Errorf("%d right, want %d", res.Right.Top1, least)
	}
}

// TestTwinMNIST trains the network of 2 bits, and compares all 10,000 test pictures: make twin runs it.
func TestTwinMNIST(t *testing.T) {
	python := need.Twin(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", filepath.Join(root, "twin"))
	path := filepath.Join(t.TempDir(), "mnist")
	if out, err := exec.CommandContext(t.Context(), python, "-m", "ripc_twin.mnist", "--bits", "2", "--epochs", "2", "--out", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sameIntegers(t, path, "host", path+"_x.npy", path+"_y.npy", 10000, 9700)
}

// TestTwinPage runs all commands of docs/twin.md with a network that they train themselves, in the place of the one in examples/twin: make
// twin runs it, and sets PyTorch up for it.
func TestTwinPage(t *testing.T) {
	python := need.Twin(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "twin.md"))
	if err != nil {
		t.Fatal(err)
	}
	ripc := command(t)
	dir := scratch(t, root, ripc)
	written(t, dir, root, string(page))
	t.Setenv("PYTHONPATH", filepath.Join(root, "twin"))
	trained, ran := 0, 0
	for _, c := range commands(string(page)) {
		switch words := strings.Fields(c.text); {
		case words[0] == "python3", strings.HasSuffix(words[0], "/pip"):
			continue // the set-up has done it
		case strings.Contains(c.text, "build/twin/mnist2"):
			continue // TestTwinMNIST does that
		case strings.Contains(c.text, "ripc_twin.sweep"):
			c.text = python + " -m ripc_twin.sweep --help" // the rest takes minutes
		case strings.HasSuffix(words[0], "/python"):
			c.text = python + strings.TrimPrefix(c.text, words[0])
			trained++
		case words[0] == "aarch64-linux-gnu-gcc":
			need.App(t, words[0])
		}
		if trained > 0 {
			for _, f := range []string{"model.json", "logits.npy"} {
				c.text = strings.ReplaceAll(c.text, "examples/twin/"+f, "build/mine/"+f)
			}
		}
		ran++
		c.prints = nil // of the network in examples/twin; another PyTorch trains another one
		if err := c.run(t, dir, ""); err != nil {
			t.Fatalf("docs/twin.md:%d: %s\n%v", c.line, c.text, err)
		}
	}
	if trained != 1 || ran < 10 {
		t.Errorf("%d commands, %d of them train", ran, trained)
	}
}
