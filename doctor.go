package ripc

import (
	"context"
	"maps"
	"slices"

	"ripc/codegen/llvm/toolchain"
	"ripc/engine/simulate"
	"ripc/internal/tools"
	"ripc/runtime/opencl"
	"ripc/schedule/costmodel"
	"ripc/targets"
	"ripc/targets/boards"
	"ripc/targets/fpga"
	"ripc/targets/guests"
)

// Tool is a program or library that ripc starts or loads, with its path and version here.
type Tool struct {
	Name    string `json:"name"`
	For     string `json:"for"`
	Install string `json:"install"`           // a command for Debian and Ubuntu
	Path    string `json:"path,omitempty"`    // "" if it is missing, or loaded by its name
	Version string `json:"version,omitempty"` // as it tells itself; "" if it tells none
	Missing string `json:"missing,omitempty"` // why it cannot be used; "" if it can
	// Needed reports that most commands need the tool.
	Needed bool `json:"needed"`
}

// Tools looks for every tool that ripc may use, the most important first. The tools that are there
// are asked for their versions.
func Tools(ctx context.Context) []Tool {
	var found []Tool
	add := func(t Tool, find func() (path string, err error)) {
		path, err := find()
		if err != nil {
			t.Missing = err.Error()
		}
		if t.Path = path; path != "" && t.Version == "" {
			t.Version = simulate.ToolVersion(ctx, path)
		}
		found = append(found, t)
	}
	onPath := func(purpose, install string, names ...string) func() (string, error) {
		return func() (string, error) { return tools.Find(purpose, install, names...) }
	}
	llvm, err := toolchain.Find()
	tool := func(base string) func() (string, error) {
		return func() (string, error) {
			if err != nil {
				return "", err
			}
			return llvm.Path(base)
		}
	}
	add(Tool{Name: "LLVM", For: "code for all targets but C source; links libraries", Install: toolchain.Install,
		Needed: true}, tool("llc"))
	add(Tool{Name: "llvm-mca", For: "estimated cycles", Install: toolchain.Install}, tool("llvm-mca"))
	add(Tool{Name: "wasm-ld", For: "links WebAssembly", Install: toolchain.Install}, tool("wasm-ld"))
	add(Tool{Name: "node", For: "runs WebAssembly with relaxed SIMD; packages for npm", Install: tools.InstallNode},
		func() (string, error) { return tools.FindNode("to run WebAssembly") })
	host, _ := targets.Host()
	for _, g := range guests.All() {
		if g.Qemu != "" && g.Arch != host.Arch {
			purpose := "runs code for " + g.Arch
			add(Tool{Name: g.Qemu, For: purpose, Install: simulate.InstallQemu},
				onPath(purpose, simulate.InstallQemu, g.Qemu))
		}
	}
	add(Tool{Name: "cc", For: "counts instructions; builds C source here",
		Install: simulate.InstallCompiler}, onPath("to build C", simulate.InstallCompiler, "cc", "gcc", "clang"))
	add(Tool{Name: "XGBoost", For: "the tuner's cost model", Install: "apt-get install libxgboost0"},
		func() (string, error) {
			_, err := costmodel.Open("")
			return "", err
		})
	add(Tool{Name: "ssh", For: "boards at ssh:USER@HOST", Install: "apt-get install openssh-client"},
		onPath("to reach boards", "apt-get install openssh-client", "ssh"))
	for _, b := range boards.All() {
		for _, name := range []string{b.Compiler, b.Simulator} {
			if !slices.ContainsFunc(found, func(t Tool) bool { return t.Name == name }) {
				add(Tool{Name: name, For: "simulated microcontrollers", Install: boards.Install},
					onPath("for simulated microcontrollers", boards.Install, name))
			}
		}
	}
	add(Tool{Name: "OpenCL", For: "kernels on devices", Install: "apt-get install ocl-icd-libopencl1 pocl-opencl-icd"},
		func() (string, error) { return "", opencl.Find() })
	onFPGA := map[string]string{"verilator": "apt-get install verilator", "yosys": "apt-get install yosys"}
	for _, f := range fpga.Families() {
		maps.Copy(onFPGA, f.Install)
	}
	for _, name := range slices.Sorted(maps.Keys(onFPGA)) {
		add(Tool{Name: name, For: "accelerators for FPGAs", Install: onFPGA[name]},
			func() (string, error) { return tools.FindForFPGA(name, onFPGA[name]) })
	}
	return found
}
