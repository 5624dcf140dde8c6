package ripc

import (
	"context"
	"os"
	"path/filepath"

	"ripc/codegen"
	"ripc/engine"
	"ripc/runtime"
)

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

// library reads or compiles what is at path, and gives the function that makes it ready to run. An artifact must be for
// the Target that o names, if it names one.
func library(ctx context.Context, path string, o Options, progress func(int, int, string)) (func(engine.Options) (engine.Engine, error), error) {
	if !IsArtifact(path) {
		o.Emit = []codegen.Kind{codegen.SO}
		if progress != nil {
			o.Progress = func(done, total int) { progress(done, total, "compiling") }
		}
		c, err := Compile(ctx, path, o)
		if err != nil {
			return nil, err
		}
		return func(o engine.Options) (engine.Engine, error) { return engine.OpenLibrary(c.Files[codegen.SO], o) }, nil
	}
	if o.Target != "" {
		d, err := runtime.ReadDescription(path)
		if err != nil {
			return nil, err
		}
		if d.Target != o.Target {
			return nil, &TargetError{Path: path, Target: d.Target, Want: o.Target}
		}
	}
	return func(o engine.Options) (engine.Engine, error) { return engine.Open(path, o) }, nil
}

// tempSO writes the shared library into a folder of its own, which the caller removes.
func tempSO(c *Compiled) (dir, path string, err error) {
	if dir, err = os.MkdirTemp("", "ripc-"); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, codegen.Identifier(c.Graph.Name)+".so")
	return dir, path, os.WriteFile(path, c.Files[codegen.SO], 0o600)
}
