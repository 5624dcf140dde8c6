package ripc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"ripc/codegen"
	"ripc/engine/simulate"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// machine is an artifact, ready to run here or in simulation.
type machine struct {
	path string
	desc *describe.Artifact
	mod  *runtime.Module   // nil if simulated
	sim  *simulate.Machine // nil if native
	dir  string            // to be removed
}

// IsArtifact reports whether path is a compiled network, not a model: by its first bytes, or by its name.
func IsArtifact(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return filepath.Ext(path) == ".so"
	}
	defer f.Close()
	var magic [4]byte
	n, _ := f.Read(magic[:])
	return string(magic[:n]) == "\x7fELF" || filepath.Ext(path) == ".so"
}

// openMachine loads an artifact, or compiles a model and loads that.
func openMachine(ctx context.Context, path string, o Options, progress func(int, int, string)) (*machine, error) {
	m := &machine{path: path}
	if err := m.open(ctx, o, progress); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

// open makes m ready. What it leaves after an error, close clears away.
func (m *machine) open(ctx context.Context, o Options, progress func(int, int, string)) error {
	path := m.path
	if !IsArtifact(path) {
		o.Emit = []codegen.Kind{codegen.SO}
		if progress != nil {
			o.Progress = func(done, total int) { progress(done, total, "compiling") }
		}
		c, err := Compile(ctx, path, o)
		if err != nil {
			return err
		}
		if m.dir, m.path, err = tempSO(c); err != nil {
			return err
		}
	}
	var err error
	if m.desc, err = runtime.ReadDescription(m.path); err != nil {
		return err
	}
	if o.Target != "" && o.Target != m.desc.Target {
		return &ir.Error{Pos: ir.Pos{File: path}, Msg: fmt.Sprintf("was compiled for %s, not for %s", m.desc.Target, o.Target), Help: "leave --target out: an artifact knows its own"}
	}
	if m.desc.Arch == runtime.HostArch() {
		m.mod, err = runtime.Load(m.path)
	} else {
		m.sim, err = simulate.Open(m.path, simulate.Options{})
	}
	return err
}

// tempSO writes the shared library into a folder of its own, which the caller removes.
func tempSO(c *Compiled) (dir, path string, err error) {
	if dir, err = os.MkdirTemp("", "ripc-"); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, codegen.Identifier(c.Graph.Name)+".so")
	return dir, path, os.WriteFile(path, c.Files[codegen.SO], 0o600)
}

func (m *machine) close() {
	if m.mod != nil {
		_ = m.mod.Close() // fails only for open sessions, which Run and Bench close first
	}
	if m.dir != "" {
		_ = os.RemoveAll(m.dir)
	}
}
