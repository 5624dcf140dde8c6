package e2e_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"ripc"
	"ripc/codegen"
	"ripc/engine"
	"ripc/engine/wasm"
	"ripc/internal/abi"
	"ripc/internal/need"
	"ripc/internal/tools"
	"ripc/runtime"
)

// wasmModule compiles a model to a module, and stores it.
func wasmModule(t *testing.T, model string) (module []byte, path string) {
	t.Helper()
	c, err := ripc.Compile(t.Context(), model, ripc.Options{Target: "wasm32", Emit: []codegen.Kind{codegen.WASM}})
	need.OK(t, err)
	path = filepath.Join(t.TempDir(), "net.wasm")
	if err := os.WriteFile(path, c.Files[codegen.WASM], 0o600); err != nil {
		t.Fatal(err)
	}
	return c.Files[codegen.WASM], path
}

// TestWASM: a module equals the interpreter stage by stage, needs nothing from outside, and is the same each time.
func TestWASM(t *testing.T) {
	model := "../examples/digits/digits.json"
	module, path := wasmModule(t, model)
	again, _ := wasmModule(t, model)
	if !bytes.Equal(module, again) {
		t.Error("two builds differ")
	}
	large, _ := wasmModule(t, "../examples/squeezenet/squeezenet.json")
	for most, m := range map[int][]byte{90_000: module, 360_000: large} {
		if len(m) > most {
			t.Errorf("%d bytes, more than %d", len(m), most)
		}
	}
	m := wazero.NewRuntime(t.Context())
	defer m.Close(t.Context())
	code, err := m.CompileModule(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	if len(code.ImportedFunctions()) > 0 || len(code.ImportedMemories()) > 0 {
		t.Error("the module has imports")
	}
	for _, model := range []string{model, "../testdata/qonnx/digits_w1a2.onnx", "../testdata/lce/bconv_bn_relu_valid_c64.tflite"} {
		rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: model, Threads: 2,
			Options: ripc.Options{Target: "wasm32"}})
		if err != nil || !rep.OK {
			t.Errorf("%s: %v %+v", model, err, rep)
		}
	}
	rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: model, SO: path, Options: ripc.Options{Target: "wasm32"}})
	if err != nil || !rep.OK {
		t.Errorf("the stored module: %v %+v", err, rep)
	}
}

// TestNode: code with relaxed SIMD equals the interpreter in Node, which a context that ends stops.
func TestNode(t *testing.T) {
	_, err := tools.FindNode("for relaxed SIMD")
	need.OK(t, err)
	maximum := filepath.Join(t.TempDir(), "maximum.json") // of hard inputs: zeros of both signs, and numbers that are none
	if err := os.WriteFile(maximum, []byte(`{"format": "ripc.model/1", "name": "m", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 4, 5, 64]},
{"name": "y", "dtype": "f32", "shape": [1, 4, 5, 64]}], "nodes": [{"name": "z", "op": "maximum", "inputs": ["x", "y"]}], "outputs": ["z"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{maximum, "../examples/digits/digits.json", "../testdata/qonnx/digits_w1a2.onnx", "../testdata/integers/qconv_u8.onnx"} {
		rep, err := ripc.Verify(t.Context(), ripc.VerifyRequest{Path: model, Threads: 2, Options: ripc.Options{Target: "wasm32-relaxed"}})
		if err != nil || !rep.OK {
			t.Errorf("%s: %v %+v", model, err, rep)
		}
	}
	c, err := ripc.Compile(t.Context(), "../examples/digits/digits.json", ripc.Options{Target: "wasm32-relaxed", Emit: []codegen.Kind{codegen.WASM}})
	need.OK(t, err)
	e, err := engine.OpenLibrary(c.Files[codegen.WASM], engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	job := engine.Job{Inputs: [][]byte{make([]byte, 1024)}, Last: len(e.Describe().Stages)}
	if r, err := e.Run(t.Context(), []engine.Job{job}); err != nil || r[0].Counters.Took <= 0 {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(ctx, []engine.Job{job}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}

	t.Chdir(t.TempDir())
	const path = "-digits.wasm" // Node must not take it for an option
	if err := os.WriteFile(path, c.Files[codegen.WASM], 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := wasm.Open(path, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var status *runtime.StatusError
	if err := s.RunStages(t.Context(), 1, 0); !errors.As(err, &status) || status.Code != abi.BadStages {
		t.Errorf("stages from 1 to before 0: %v", err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Errorf("a run behind a refused one: %v", err)
	}
}

// TestWASMFaults: damaged modules are refused, a module with its own memory has one thread, and a context that ends stops the code.
func TestWASMFaults(t *testing.T) {
	module, path := wasmModule(t, "../examples/digits/digits.json")
	for _, at := range []int{40, len(module) / 2, len(module) - 40, len(module) - 1} {
		module[at] ^= 1
		damaged := filepath.Join(t.TempDir(), "damaged.wasm")
		if err := os.WriteFile(damaged, module, 0o600); err != nil {
			t.Fatal(err)
		}
		var file *runtime.FileError
		if _, err := engine.Open(damaged, engine.Options{}); !errors.As(err, &file) {
			t.Errorf("byte %d: %v", at, err)
		}
		module[at] ^= 1
	}
	var threads *engine.ThreadsError
	for _, n := range []int{-1, 2, 257} {
		if _, err := engine.Open(path, engine.Options{Threads: n}); !errors.As(err, &threads) {
			t.Errorf("%d threads: %v", n, err)
		}
	}
	e, err := engine.Open(path, engine.Options{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	job := engine.Job{Inputs: [][]byte{make([]byte, 1024)}, Last: len(e.Describe().Stages)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Run(ctx, []engine.Job{job}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// flagScript is the head of scripts with flags of V8 as their last arguments, which they set where relaxed SIMD is an experiment.
const flagScript = `import fs from "node:fs";
import v8 from "node:v8";
if (parseInt(process.versions.v8) < 12) process.argv.filter(arg => arg.startsWith("--")).forEach(flag => v8.setFlagsFromString(flag));
`

// nodeScript compares the outputs of the package beside it with those in a file, as often and by as many threads as its
// arguments say, and prints the module that ran.
const nodeScript = flagScript + `import {load} from "./package/index.js";
const [rounds, threads] = process.argv.slice(2).map(Number);
const net = await load({threads}), x = fs.readFileSync("x.bin"), want = fs.readFileSync("want.bin");
const bytes = t => new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength);
const n = bytes(net.inputs[0]).length, m = bytes(net.outputs[0]).length;
for (let round = 0; round < rounds; round++) for (let i = 0; i < want.length / m; i++) {
  bytes(net.inputs[0]).set(x.subarray(i * n, i * n + n));
  net.run();
  if (Buffer.compare(bytes(net.outputs[0]), want.subarray(i * m, i * m + m))) throw new Error("row " + i + " differs");
}
console.log(net.target, net.threads);
net.close();
`

// relaxed and slow are flags of V8. Without slow, Node 20's baseline compiler gets relaxed dot products wrong on some CPUs.
const relaxed, slow = "--experimental-wasm-relaxed-simd", "--no-liftoff"

// TestNPM: all modules of a package give the bits of native code in Node, 1,000 times by three threads. Where Node gets
// relaxed dot products wrong, of which the second network has many, its module is refused.
func TestNPM(t *testing.T) {
	digits, twin := "../examples/digits/digits.json", "../examples/twin/model.json"
	run := openPackage(t, digits, "wasm32")
	for _, args := range [][]string{{"1", "1"}, {"1", "1", relaxed}} {
		if got, err := run("test.mjs", args...); err != nil || got != "wasm32 1" && got != "wasm32-relaxed 1" {
			t.Errorf("%v: module %s, %v", args, got, err)
		}
	}
	dots := openPackage(t, twin, "wasm32-relaxed")
	for _, node := range []func(string, ...string) (string, error){run, dots} {
		for _, args := range [][]string{{"1", "1"}, {"1", "2"}, {"50", "3"}} {
			if got, err := node("test.mjs", append(args, relaxed, slow)...); err != nil || got != "wasm32-relaxed "+args[1] {
				t.Errorf("module %s, %v: is there no fused multiply-add here?", got, err)
			}
		}
	}
	got, err := dots("test.mjs", "1", "1", relaxed)
	if got != "wasm32-relaxed 1" && (err == nil || !strings.Contains(err.Error(), "this machine cannot run code for wasm32-relaxed")) {
		t.Errorf("%s, %v", got, err)
	}
}

// faultScript loads copies of the package beside it that have faults, and prints what each gives.
const faultScript = flagScript + `import {Worker} from "node:worker_threads";
let warned = "", started, copies = 0;
console.warn = text => warned = text;
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (message) { started = this; post.call(this, message); };
const load = async (threads, change) => {
  const dir = "./copy" + copies++;
  fs.cpSync("package", dir, {recursive: true});
  change?.(name => dir + "/" + name);
  return (await import(dir + "/index.js")).load({threads});
};
const show = async (name, give) => {
  warned = "";
  const given = await give().catch(error => error.message);
  console.log(name + ": " + given + (warned && "; warned: " + warned));
};
const often = net => { for (let k = 0; k < 100000; k++) net.run(); };
const twice = net => { try { often(net); } catch { net.run(); } };
const damage = (...names) => at => names.forEach(name => fs.writeFileSync(at(name), "damaged"));
const edit = (from, to) => at => fs.writeFileSync(at("worker.js"), fs.readFileSync(at("worker.js"), "utf8").replace(from, to));
await show("missing", () => load(1, at => fs.rmSync(at("wasm32-relaxed.wasm"))));
await show("damaged", async () => (await load(1, damage("wasm32-relaxed.wasm"))).target);
await show("both damaged", () => load(1, damage("wasm32-relaxed.wasm", "wasm32.wasm")));
for (const threads of [1, 3]) await show("closed, " + threads, async () => {
  const net = await load(threads);
  net.run();
  net.close();
  net.run();
});
await show("unloaded", async () => {
  const net = await load(1), words = new Uint32Array(net.inputs[0].data.buffer);
  words.forEach((v, k) => { if (v === net.inputs[0].data.byteOffset) words[k] = 2 ** 32 - 64; });
  twice(net);
});
await show("no worker", () => load(2, at => fs.rmSync(at("worker.js"))));
await show("a worker's start", () => load(3, edit("tell(\"\")", "throw new Error('broken')")));
await show("a worker's trap", async () => twice(await load(3, edit("...args", "...args.with(2, -65536)"))));
await show("the workers' end", async () => {
  const net = await load(3);
  net.run();
  await started.terminate();
  net.run();
});
for (const run of [0, 3]) await show("a worker's end in run " + run, async () =>
  often(await load(3, edit("...args", "...(run === " + run + " && args[3] === 2 ? process.exit() : args)"))));
`

// TestPackageFaults: a package falls back with a warning, and only where a module is refused. After close or an error in a
// worker, nothing runs, and nothing waits.
func TestPackageFaults(t *testing.T) {
	got, err := openPackage(t, "../examples/digits/digits.json", "wasm32")("faults.mjs", relaxed, slow)
	if err != nil {
		t.Fatal(err)
	}
	const trap = "RuntimeError: memory access out of bounds"
	lines := strings.Split(got, "\n")
	for i, want := range []string{"missing: ENOENT", "damaged: wasm32; warned: the module wasm32-relaxed is refused: WebAssembly.compile()",
		"both damaged: WebAssembly.compile()", "closed, 1: digits: closed", "closed, 3: digits: closed", "unloaded: digits: " + trap,
		"no worker: digits: Error: Cannot find module", "a worker's start: digits: thread ",
		"a worker's trap: digits: thread ", "the workers' end: digits: its threads have ended",
		"a worker's end in run 0: digits: thread 2: it has ended", "a worker's end in run 3: digits: thread 2: it has ended"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
}

// openPackage compiles a network for images of digits to a package. It returns a function that runs a script in Node beside
// it, and beside the answers of native code, and returns what the script prints.
func openPackage(t *testing.T, model, target string) func(script string, args ...string) (string, error) {
	t.Helper()
	node, err := tools.FindNode("for packages")
	need.OK(t, err)
	const rows, size, inputs = 20, 1024, "../examples/digits/data/x_test.npy"
	c, err := ripc.Compile(t.Context(), model, ripc.Options{Target: target, Emit: []codegen.Kind{codegen.NPM}})
	need.OK(t, err)
	images, err := os.ReadFile(inputs)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ripc.Run(t.Context(), ripc.RunRequest{Path: model, First: rows, Threads: 1, Inputs: []string{inputs}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"net.tgz": c.Files[codegen.NPM], "x.bin": images[len(images)%size:],
		"want.bin": want.Outputs[0].Data, "test.mjs": []byte(nodeScript), "faults.mjs": []byte(faultScript)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "tar", "xzf", filepath.Join(dir, "net.tgz"), "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(script string, args ...string) (string, error) {
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
		defer stop()
		cmd := exec.CommandContext(ctx, node, append([]string{script}, args...)...)
		var errs bytes.Buffer
		cmd.Dir, cmd.Stderr = dir, &errs
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("%w\n%s", err, errs.String())
		}
		return strings.TrimSpace(string(out)), err
	}
}

// TestWASMThreads: a module of a package that imports its memory runs in two threads in this process, and a context that ends
// stops both. No module of the package has more than 90,000 bytes.
func TestWASMThreads(t *testing.T) {
	const model, size = "../examples/digits/digits.json", 1024
	c, err := ripc.Compile(t.Context(), model, ripc.Options{Target: "wasm32", Emit: []codegen.Kind{codegen.NPM}})
	need.OK(t, err)
	path := filepath.Join(t.TempDir(), "net.wasm")
	zip, err := gzip.NewReader(bytes.NewReader(c.Files[codegen.NPM]))
	if err != nil {
		t.Fatal(err)
	}
	in := tar.NewReader(zip)
	for name := ""; name != "package/wasm32.threads.wasm"; {
		h, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		if name = h.Name; h.Size > 90_000 {
			t.Errorf("%s has %d bytes", name, h.Size)
		}
	}
	module, err := io.ReadAll(in)
	if err = errors.Join(err, os.WriteFile(path, module, 0o600)); err != nil {
		t.Fatal(err)
	}
	var outputs [3][]byte
	for threads := 1; threads < len(outputs); threads++ {
		e, err := engine.Open(path, engine.Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		job := engine.Job{Inputs: [][]byte{make([]byte, size)}, Last: len(e.Describe().Stages), Outputs: true}
		r, err := e.Run(t.Context(), []engine.Job{job})
		if err != nil {
			t.Fatal(err)
		}
		outputs[threads] = r[0].Outputs[0]
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Run(ctx, []engine.Job{job}); threads > 1 && !errors.Is(err, context.Canceled) {
			t.Errorf("%d threads, a context that has ended: %v", threads, err)
		}
	}
	if !bytes.Equal(outputs[1], outputs[2]) {
		t.Error("two threads give other bits than one")
	}
}

// TestPage: a page opens from disk, has run its network, and draws its graph.
func TestPage(t *testing.T) {
	browser := need.Browser(t)
	path := filepath.Join(t.TempDir(), "digits.html")
	if err := os.WriteFile(path, htmlPage(t), 0o600); err != nil {
		t.Fatal(err)
	}
	const ready, tries = `data-ready="yes"`, 5
	var out []byte
	for try := 0; try < tries && !bytes.Contains(out, []byte(ready)); try++ { // a busy browser may print the page too early
		var err error
		out, err = exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu",
			"--virtual-time-budget=60000", "--dump-dom", "file://"+path).Output()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{ready, "6 layers", "<td>1</td>", "<td>2 x 1</td>", "whole network"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if dots, lines := strings.Count(string(out), "<circle"), strings.Count(string(out), "<path"); dots != 6 || lines != 5 {
		t.Errorf("the graph has %d layers and %d tensors between them", dots, lines)
	}
}

// TestThreadsInBrowser: a page that is cross-origin isolated has two threads, another one thread, and both give equal bits. The
// page hears of a worker that cannot be loaded.
func TestThreadsInBrowser(t *testing.T) {
	need.Browser(t)
	c, err := ripc.Compile(t.Context(), "../examples/digits/digits.json",
		ripc.Options{Target: "wasm32", Emit: []codegen.Kind{codegen.NPM}})
	need.OK(t, err)
	dir := t.TempDir()
	for name, data := range map[string][]byte{"net.tgz": c.Files[codegen.NPM], "index.html": []byte(isolationPage)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	unpack := exec.CommandContext(t.Context(), "tar", "xzf", "net.tgz")
	unpack.Dir = dir
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, threads := range []int{2, 1} {
		got := posted(t, http.FileServer(http.Dir(dir)), threads > 1, "--disable-gpu")
		if want := fmt.Sprintf("%d threads, 0 rows differ", threads); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "package", "worker.js")); err != nil {
		t.Fatal(err)
	}
	if got := posted(t, http.FileServer(http.Dir(dir)), true, "--disable-gpu"); !strings.Contains(got, "worker.js cannot be loaded") {
		t.Errorf("no worker: %q", got)
	}
}

// htmlPage compiles the network of digits to a page.
func htmlPage(t *testing.T) []byte {
	t.Helper()
	c, err := ripc.Compile(t.Context(), "../examples/digits/digits.json",
		ripc.Options{Target: "wasm32", Emit: []codegen.Kind{codegen.HTML}})
	need.OK(t, err)
	return c.Files[codegen.HTML]
}

// postedBy returns the text that a script makes behind a page that waits for a value.
func postedBy(t *testing.T, page []byte, waitsFor, text string, flags ...string) string {
	t.Helper()
	page = fmt.Appendf(page, `<script type="module">
while (!(%s)) await new Promise(done => setTimeout(done, 100));
await fetch("/", {method: "POST", body: %s});
</script>`, waitsFor, text)
	return posted(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) }), false, flags...)
}

// TestPageOnGPU: where a browser has WebGPU, a page runs the network there, with the bits of WebAssembly.
func TestPageOnGPU(t *testing.T) {
	need.Browser(t)
	got := postedBy(t, htmlPage(t), "document.body.dataset.ready", "document.body.innerText",
		"--disable-gpu-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan,WebGPU",
		"--use-vulkan=swiftshader")
	if !strings.Contains(got, "; webgpu\n") || !strings.Contains(got, "whole network") {
		t.Errorf("%s", got)
	}
}

// TestPageFaults: a page says where the reader looks why it cannot run, and why it refuses a file.
func TestPageFaults(t *testing.T) {
	need.Browser(t)
	page := htmlPage(t)
	damaged := regexp.MustCompile(`const modules = .*;`).ReplaceAllLiteral(page, []byte(`const modules = [["wasm32", "AAAA"]];`))
	const about = `document.getElementById("about").innerText`
	if got := postedBy(t, damaged, about+` !== "loading"`, about, "--disable-gpu"); !strings.Contains(got, "WebAssembly.compile()") {
		t.Errorf("a damaged module: %s", got)
	}
	got := postedBy(t, page, "document.body.dataset.ready", fileScript, "--disable-gpu")
	want := []string{"", "", "the first of 3 inputs", "the file has shape [16, 8, 2], the input [1, 16, 16, 1]", "the file's length is not that of its shape",
		"the input needs elements of <f4", "the file is in Fortran's order (numpy.ascontiguousarray)", "this is not a .npy file", ""}
	if got != strings.Join(want, "\n") {
		t.Errorf("%s", got)
	}
}

// fileScript gives what a page says of files, the last of which is none.
const fileScript = `await (async () => {
  const npy = (shape, bytes, descr = "<f4", order = "False") => {
    const text = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }";
    return [new Uint8Array([0x93, 78, 85, 77, 80, 89, 1, 0, text.length, 0]), text, new Uint8Array(bytes)];
  };
  const chooser = document.querySelector("input"), said = [];
  for (const file of [npy("1, 16, 16, 1", 1024), npy("16, 16, 1", 1024), npy("3, 16, 16, 1", 3072), npy("16, 8, 2", 1024),
    npy("1, 16, 16, 1", 2048), npy("1, 16, 16, 1", 1024, "<f8"), npy("1, 16, 16, 1", 1024, "<f4", "True"), ["text"], undefined]) {
    const list = new DataTransfer();
    if (file) list.items.add(new File(file, "x.npy"));
    chooser.files = list.files;
    chooser.nextSibling.textContent = "unset";
    await chooser.onchange();
    said.push(chooser.nextSibling.textContent);
  }
  return said.join("\n");
})()`

// posted opens the page of a server in a browser, and returns what the page posts.
func posted(t *testing.T, files http.Handler, isolated bool, flags ...string) string {
	t.Helper()
	browser := need.Browser(t)
	result := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			text, _ := io.ReadAll(r.Body)
			result <- string(text)
			return
		}
		if isolated {
			w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
			w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, browser, append(flags, "--headless", "--no-sandbox", "--remote-debugging-port=0",
		"--user-data-dir="+t.TempDir(), server.URL)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = cmd.Wait()
	}()
	select {
	case got := <-result:
		return got
	case <-ctx.Done():
		t.Error("the page has no result")
		return ""
	}
}

// isolationPage compares two threads, where they can be had, with one.
const isolationPage = `<!doctype html>
<script type="module">
import {load} from "./package/index.js";
const compare = async () => {
  const one = await load(), net = await load({threads: 2});
  let differ = 0;
  for (let round = 0; round < 100; round++) {
    for (const n of [one, net]) n.inputs[0].data.forEach((_, k, data) => data[k] = (k * round) % 17 / 16);
    one.run();
    net.run();
    if (one.outputs[0].data.some((v, k) => v !== net.outputs[0].data[k])) differ++;
  }
  net.close();
  return net.threads + " threads, " + differ + " rows differ";
};
await fetch("/", {method: "POST", body: await compare().catch(error => error.message)});
</script>
`
