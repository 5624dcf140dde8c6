package main

import (
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ripc"
	"ripc/autotune/runner"
	"ripc/caches"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/sshtest"
	"ripc/runtime"
	"ripc/runtime/npy"
	"ripc/schedule/costmodel"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ripc": main})
}

// TestScripts runs the command as users do. Conditions [llvm], [qemu] and [xgboost] skip what needs these; with
// RIPC_REQUIRE_TOOLS=1 they are taken to be there.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir() // shared by the scripts: kernels are compiled once
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("ESC", "a\x1b[2J\u009b31m\r\u202e\a")
			e.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			e.Setenv("TESTDATA", filepath.Join(root, "testdata"))
			e.Setenv("PT2", filepath.Join(root, "importer", "pt2", "testdata"))
			e.Setenv("MODELS", filepath.Join(root, "cmd", "ripc", "testdata", "models"))
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv(caches.Env, "")
			e.Setenv("RIPC", filepath.Join(filepath.SplitList(e.Getenv("PATH"))[0], "ripc")) // for scripts that change PATH
			for _, name := range []string{toolchain.EnvBin, "GOGC", "GOMEMLIMIT"} {
				e.Setenv(name, os.Getenv(name))
			}
			return testFiles(e.WorkDir)
		},
		Condition: func(cond string) (bool, error) {
			must := os.Getenv("RIPC_REQUIRE_TOOLS") == "1"
			switch cond {
			case "llvm":
				_, err := toolchain.Find()
				return must || err == nil, nil
			case "onnx", "pt2", "tflite":
				return slices.Contains(ripc.ModelKinds(), "."+cond), nil
			case "qemu":
				_, err := exec.LookPath("qemu-aarch64")
				return must || err == nil, nil
			case "xgboost":
				_, err := costmodel.Open("")
				return must || err == nil, nil
			}
			return false, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": exitCode, "offers": takesOffers, "plain": plain, "spoiltrace": spoilTrace, "hub": startHub, "sshd": func(ts *testscript.TestScript, neg bool, args []string) { startSSHD(t, ts) }, "tamper": tamper, "flip": flip, "spoil": spoil, "damage": damage, "edit": edit,
		},
	})
}

// startSSHD is "sshd": an sshd at ssh:$ADDRESS, which needs no questions. The worker for this machine is put beside ripc, as make
// workers does.
func startSSHD(t *testing.T, ts *testscript.TestScript) {
	server := sshtest.Start(t)
	ts.Setenv("ADDRESS", server.Address)
	ts.Setenv("CACHE", server.Cache)
	ts.Setenv(runner.EnvSSH, strings.Join(server.SSH, " "))
	beside := filepath.Join(filepath.Dir(ts.Getenv("RIPC")), runner.WorkerName(runtime.HostArch()))
	cmd := exec.Command("go", "build", "-tags=ripc_static", "-o", beside, "ripc/cmd/ripc-worker")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("go build: %v\n%s", err, out)
	}
}

// exitCode is "code N command ...": the command must end with exit code N.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command args ...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		e, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if args[0] != strconv.Itoa(got) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// edgeFile writes the logits of digits' first four pictures. Those of the third one are others, as if a sign had gone the other way.
func edgeFile(path string) error {
	a, err := npy.ReadFile("../../examples/digits/data/w1a2_logits_torch.npy")
	if err != nil {
		return err
	}
	all, err := a.Float64s()
	if err != nil {
		return err
	}
	const pictures, classes, jump = 4, 10, 0.25
	rows := make([]float32, pictures*classes)
	for i := range rows {
		rows[i] = float32(all[i])
		if i/classes == 2 {
			rows[i] += jump
		}
	}
	return npy.FromFloat32([]int{pictures, classes}, rows).WriteFile(path)
}

// testFiles writes inputs that are no text.
func testFiles(dir string) error {
	pixels := make([]float32, 2*16*16)
	for i := range pixels {
		pixels[i] = float32(i%17) / 16
	}
	for name, a := range map[string]*npy.Array{
		"logs.npy":  npy.FromFloat32([]int{1, 4}, []float32{-1, 0, 1, float32(math.Inf(1))}),
		"one.npy":   npy.FromFloat32([]int{1, 16, 16, 1}, pixels[:256]),
		"flat.npy":  npy.FromFloat32([]int{16, 16, 1}, pixels[:256]),
		"two.npy":   npy.FromFloat32([]int{2, 16, 16, 1}, pixels),
		"wrong.npy": npy.FromFloat32([]int{1, 16, 16, 2}, pixels),
		"f64.npy":   {DType: "f64", Shape: []int{1, 16, 16, 1}, Data: make([]byte, 8*256)},
		"u8.npy":    {DType: "u8", Shape: []int{1, 16, 16, 1}, Data: make([]byte, 256)},
	} {
		if err := a.WriteFile(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	if err := edgeFile(filepath.Join(dir, "edge.npy")); err != nil {
		return err
	}
	img := image.NewGray(image.Rect(0, 0, 32, 32))
	for i := range 32 * 32 {
		img.SetGray(i%32, i/32, color.Gray{Y: uint8(i % 251)})
	}
	f, err := os.Create(filepath.Join(dir, "picture.png"))
	if err != nil {
		return err
	}
	defer f.Close()
	return png.Encode(f, img)
}
