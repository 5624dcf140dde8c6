package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// outside is a program of another module that names the public types.
const outside = `package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"ripc"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/runtime/npy"
)

func inputs(d *describe.Artifact) (all [][]byte, err error) {
	var t describe.Tensor
	for i := range d.Inputs {
		t = d.Inputs[i]
		data, err := runtime.FillRandom(t, 5, i)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func array(o ripc.Output) (*npy.Array, error) {
	var t describe.Tensor = o.Tensor
	return runtime.ToArray(t, o.Data)
}

func main() {
	r := ripc.RunRequest{Path: os.Args[1], Engine: ripc.EngineInterp, Seed: 5, Threads: 1}
	res, err := ripc.Run(context.Background(), r)
	if err != nil {
		panic(err)
	}
	var a *npy.Array
	if a, err = array(res.Outputs[0]); err != nil {
		panic(err)
	}
	in, err := ripc.Inspect(context.Background(), os.Args[1], ripc.Options{Target: "rpi3"}, "", false)
	if err != nil {
		panic(err)
	}
	data, err := inputs(&describe.Artifact{Inputs: in.Inputs})
	if err != nil {
		panic(err)
	}
	var bad *ripc.ArtifactError
	_, err = ripc.Verify(context.Background(), ripc.VerifyRequest{Path: "x.so"})
	fmt.Println(a.DType, a.Shape, len(data[0]), errors.As(err, &bad), ripc.IsBadInput(err))
}
`

// TestOutside builds and runs a program in a module of its own, which requires this one as README says.
func TestOutside(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	// The versions are those of this module, so that nothing has to be fetched.
	text := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(mod), "module example.com/outside") +
		"\nrequire ripc v0.0.0\n\nreplace ripc => " + root + "\n"
	for name, data := range map[string]string{"go.mod": text, "go.sum": string(sum), "main.go": outside} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", ".", filepath.Join(root, "examples/digits/digits.json"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "f32 [1 10] 1024 true true\n"; string(out) != want {
		t.Errorf("it prints %q, want %q", out, want)
	}
}
