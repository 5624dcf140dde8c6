// Package web packs modules of WebAssembly for those that run them outside of Go: as a package for
// npm, and as a page that opens from disk.
package web

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"ripc/internal/abi"
	"ripc/internal/container"
	"ripc/runtime/describe"
	"ripc/runtime/webgpu"
)

// Network is a network and its modules.
type Network struct {
	*describe.Artifact
	Modules []Module // the fastest first; the last one runs on every machine
	Kernels []byte   // a bundle for WebGPU, or nil
	Refused string   // why there is none
}

// Module is one of the modules, for a target.
type Module struct {
	Target   string
	Code     []byte
	Threaded []byte // the same for several threads, which a page from disk has not
}

//go:embed run.js
var runFile string

// Script is run.js with its numbers.
func Script() string {
	return strings.NewReplacer("SYNC_BYTES", fmt.Sprint(abi.SyncBytes), "GATE", fmt.Sprint(abi.Stage), "CLAIMS",
		fmt.Sprint(abi.Claims), "SEAL_BYTES", fmt.Sprint(1+container.SealSize)).Replace(runFile)
}

// Flags is the head of scripts for Node that want relaxed SIMD: it sets flags of V8 where they are
// needed.
//
//go:embed flags.js
var Flags string

// Worker is the script of another thread.
//
//go:embed worker.js
var Worker string

//go:embed index.js
var indexText string

//go:embed device.js
var deviceText string

//go:embed page.html
var pageText string

// Package is the package, packed as npm packs it: npm install NAME.tgz.
func Package(n Network) ([]byte, error) {
	var targets, names []string
	files := map[string][]byte{"run.js": []byte(Script()), "worker.js": []byte(Worker),
		"index.d.ts": n.declarations(), "README.md": n.readme()}
	for _, m := range n.Modules {
		targets, names = append(targets, m.Target), append(names, m.Target+".wasm", m.Target+".threads.wasm")
		files[m.Target+".wasm"], files[m.Target+".threads.wasm"] = m.Code, m.Threaded
	}
	list, err := json.Marshal(targets)
	if err != nil {
		return nil, err
	}
	files["index.js"] = []byte(strings.ReplaceAll(indexText, "TARGETS", string(list)))
	files["package.json"], err = json.MarshalIndent(map[string]any{
		"name": n.packageName(), "version": "1.0.0", "description": "A network that ripc compiled",
		"type": "module", "main": "index.js", "types": "index.d.ts", "sideEffects": false,
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	pack := tar.NewWriter(zip)
	for _, name := range append([]string{"package.json", "README.md", "index.js", "index.d.ts", "run.js",
		"worker.js"}, names...) {
		h := &tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(files[name])), Format: tar.FormatUSTAR}
		if err := pack.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := pack.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := pack.Close(); err != nil {
		return nil, err
	}
	err = zip.Close()
	return out.Bytes(), err
}

// nodeModules are the modules that Node finds before packages of their names.
const nodeModules = " assert async_hooks buffer child_process cluster console constants crypto dgram " +
	"diagnostics_channel dns domain events fs http http2 https inspector module net os path perf_hooks " +
	"process punycode querystring readline repl stream string_decoder sys timers tls trace_events tty " +
	"url util v8 vm wasi worker_threads zlib "

// packageName is a name that npm takes, in small letters, and that no module of Node has.
func (n Network) packageName() string {
	name := strings.ToLower(n.Name)
	if strings.HasPrefix(name, "_") || strings.Contains(nodeModules, " "+name+" ") {
		return "net_" + strings.TrimLeft(name, "_")
	}
	return name
}

// declarations are the types of the package for TypeScript, with the network's shapes.
func (n Network) declarations() []byte {
	var out strings.Builder
	arrays := map[string]string{"f32": "Float32Array", "i32": "Int32Array", "u32": "Uint32Array", "i16": "Int16Array",
		"u8": "Uint8Array", "i8": "Int8Array"}
	list := func(tensors []describe.Tensor) string {
		var all []string
		for _, t := range tensors {
			shape := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(t.Shape), "[]")), ", ")
			all = append(all, fmt.Sprintf("Tensor<%q, [%s], %s>", t.Title(), shape, arrays[t.DType]))
		}
		return strings.Join(all, ", ")
	}
	out.WriteString(`/** A tensor in the network's memory: write inputs to data, and read outputs from it. */
export interface Tensor<Name extends string, Shape extends readonly number[], Data> {
  readonly name: Name;
  readonly dtype: "f32" | "i32" | "u32" | "i16" | "u8" | "i8";
  readonly shape: Shape;
  readonly data: Data;
}

export interface Stage {
  readonly name: string;
  readonly op: string;
  /** Multiplications of a run. */
  readonly macs: number;
}

export interface Network {
  readonly name: string;
  /** The module that this machine runs. */
  readonly target: string;
  /** The threads that it has: one in a page that is not cross-origin isolated. */
  readonly threads: number;
`)
	fmt.Fprintf(&out, "  readonly inputs: [%s];\n  readonly outputs: [%s];\n", list(n.Inputs), list(n.Outputs))
	out.WriteString(`  readonly stages: Stage[];
  readonly description: object;
  run(): void;
  runStage(stage: number): void;
  /** Ends the other threads. Nothing runs after it. */
  close(): void;
}

/** Loads the fastest module that this machine can run. */
export function load(options?: {threads?: number}): Promise<Network>;
`)
	return []byte(out.String())
}

func (n Network) readme() []byte {
	return fmt.Appendf(nil, "# %s\n\nA network that ripc compiled to WebAssembly. It needs nothing else.\n\n"+
		"```js\nimport {load} from %q;\n\nconst net = await load();\nnet.inputs[0].data.fill(0.5);\nnet.run();\n"+
		"console.log(net.outputs[0].data);\n```\n", n.Name, n.packageName())
}

// Page is a page of HTML with the network in it, which opens from disk.
func Page(n Network) ([]byte, error) {
	var modules [][2]string
	for _, m := range n.Modules {
		modules = append(modules, [2]string{m.Target, base64.StdEncoding.EncodeToString(m.Code)})
	}
	list, err := json.Marshal(modules)
	if err != nil {
		return nil, err
	}
	kernels, err := n.kernels()
	if err != nil {
		return nil, err
	}
	run := strings.ReplaceAll(Script(), "export ", "")
	return []byte(strings.NewReplacer("TITLE", html.EscapeString(n.Name), "RUN",
		run+deviceText+webgpu.Script, "MODULES", string(list), "KERNELS", string(kernels)).Replace(pageText)), nil
}

// kernels is the bundle in JSON.
func (n Network) kernels() ([]byte, error) {
	if n.Kernels == nil {
		return json.Marshal(map[string]string{"refused": n.Refused})
	}
	file, err := container.Open(bytes.NewReader(n.Kernels))
	if err != nil {
		return nil, err
	}
	b := file.(*container.Bundle)
	description, _, _ := bytes.Cut(b.Part(describe.Section), []byte{0})
	return json.Marshal(map[string]any{"description": json.RawMessage(description),
		"text": string(b.Part(container.Kernels + "wgsl")), "constants": b.Part(container.Constants)})
}
