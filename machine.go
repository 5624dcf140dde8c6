package ripc

import (
	"context"
	"os"
	"path/filepath"

	"ripc/codegen"
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

// library gives the path of the artifact at path, or of the one that it compiles from the model there, and a function to
// call when it is no longer needed. An artifact must be for the Target that o names, if it names one.
func library(ctx context.Context, path string, o Options, progress func(int, int, string)) (so string, remove func(), err error) {
	remove = func() {}
	if IsArtifact(path) {
		if o.Target == "" {
			return path, remove, nil
		}
		d, err := runtime.ReadDescription(path)
		if err == nil && d.Target != o.Target {
			err = &TargetError{Path: path, Target: d.Target, Want: o.Target}
		}
		return path, remove, err
	}
	o.Emit = []codegen.Kind{codegen.SO}
	if progress != nil {
		o.Progress = func(done, total int) { progress(done, total, "compiling") }
	}
	c, err := Compile(ctx, path, o)
	if err != nil {
		return "", remove, err
	}
	dir, so, err := tempSO(c)
	remove = func() { _ = os.RemoveAll(dir) }
	if err != nil {
		remove()
	}
	return so, remove, err
}

// tempSO writes the shared library into a folder of its own, which the caller removes.
func tempSO(c *Compiled) (dir, path string, err error) {
	if dir, err = os.MkdirTemp("", "ripc-"); err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, codegen.Identifier(c.Graph.Name)+".so")
	return dir, path, os.WriteFile(path, c.Files[codegen.SO], 0o600)
}
