package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// environment is a Python environment with engines in it. They want versions of their dependencies
// that exclude each other.
type environment struct {
	Name         string
	Requirements string // file in bench/python: every package with its version
	Models       string // program there that writes the models of these engines
}

// pythonVersion is the one that all requirements are for: the newest that Larq Compute Engine has
// packages for.
const pythonVersion = "3.11"

// scripts is where the Python programs are, from the top folder.
const scripts = "bench/python"

func environments() []environment {
	return []environment{
		{"onnx", "requirements-onnx.txt", "models_onnx.py"},
		// also the TFLite files for LiteRT, which its TensorFlow makes
		{"larq", "requirements-larq.txt", "models_larq.py"},
		{"tvm", "requirements-tvm.txt", "models_tvm.py"},
	}
}

// peers is the folder with everything that is not ripc's, outside the tree.
type peers struct {
	dir    string
	python string // "" finds one
	log    io.Writer
}

func (p peers) models() string { return filepath.Join(p.dir, "models") }

// interpreter is the Python of an environment.
func (p peers) interpreter(name string) string { return filepath.Join(p.dir, name, "bin", "python") }

// worker is the command that runs an entry.
func (p peers) worker(e Entry, threads int) []string {
	return []string{p.interpreter(e.Env), filepath.Join(scripts, "worker.py"), e.Worker, e.file(p.models()),
		fmt.Sprint(threads)}
}

// setUp installs missing environments and makes missing models. It returns the environments that
// cannot be had, with the reasons.
func (p peers) setUp(ctx context.Context) (map[string]string, error) {
	missing := map[string]string{}
	if err := os.MkdirAll(p.models(), 0o755); err != nil {
		return nil, err
	}
	for _, e := range environments() {
		if err := p.install(ctx, e); err != nil {
			missing[e.Name] = err.Error()
		} else if err := p.makeModels(ctx, e); err != nil {
			missing[e.Name] = err.Error()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return missing, nil
}

// install makes an environment, unless it is there with the same requirements.
func (p peers) install(ctx context.Context, e environment) error {
	requirements := filepath.Join(scripts, e.Requirements)
	wanted, err := stamp(requirements)
	if err != nil {
		return err
	}
	dir := filepath.Join(p.dir, e.Name)
	mark := filepath.Join(dir, "ripc-installed")
	if has, err := os.ReadFile(mark); err == nil && bytes.Equal(has, wanted) {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	var steps [][]string
	if uv, err := exec.LookPath("uv"); err == nil {
		steps = [][]string{
			{uv, "venv", "--quiet", "--python", pythonVersion, dir},
			{uv, "pip", "install", "--quiet", "--python", p.interpreter(e.Name), "-r", requirements},
		}
	} else {
		python, err := p.find(ctx)
		if err != nil {
			return err
		}
		steps = [][]string{
			{python, "-m", "venv", dir},
			{p.interpreter(e.Name), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements},
		}
	}
	for _, s := range steps {
		if err := p.do(ctx, e.Name+": installing "+e.Requirements, s); err != nil {
			return err
		}
	}
	return os.WriteFile(mark, wanted, 0o644)
}

// find finds a Python of the version that the requirements are for.
func (p peers) find(ctx context.Context) (string, error) {
	names := []string{"python" + pythonVersion, "python3", "python"}
	if p.python != "" {
		names = []string{p.python}
	}
	for _, name := range names {
		const script = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
		out, err := exec.CommandContext(ctx, name, "-c", script).Output()
		if err == nil && strings.TrimSpace(string(out)) == pythonVersion {
			return name, nil
		}
	}
	return "", fmt.Errorf("no Python %s with venv (tried %s); install it, or uv, or name it with -python",
		pythonVersion, strings.Join(names, ", "))
}

// makeModels makes the models of an environment, unless the same programs have made them.
func (p peers) makeModels(ctx context.Context, e environment) error {
	wanted, err := stamp(filepath.Join(scripts, e.Requirements), filepath.Join(scripts, e.Models),
		filepath.Join(scripts, "networks.py"))
	if err != nil {
		return err
	}
	mark := filepath.Join(p.models(), "made-"+e.Name)
	if has, err := os.ReadFile(mark); err == nil && bytes.Equal(has, wanted) {
		return nil
	}
	if err := p.do(ctx, e.Name+": making models",
		[]string{p.interpreter(e.Name), filepath.Join(scripts, e.Models), p.models()}); err != nil {
		return err
	}
	return os.WriteFile(mark, wanted, 0o644)
}

// do runs a command. If it fails, the error has its output.
func (p peers) do(ctx context.Context, what string, command []string) error {
	fmt.Fprintf(p.log, "%s (%s)\n", what, p.dir)
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(p.log, "%s\n%s\n", strings.Join(command, " "), out.String())
		return fmt.Errorf("%s failed: %s", what, lastLine(out.String()))
	}
	return nil
}

// versions lists the packages of all environments that are there, as their requirements give them:
// the engines alone.
func (p peers) versions() ([]string, error) {
	engines := []string{"onnxruntime", "ai-edge-litert", "larq-compute-engine", "tensorflow-cpu", "apache-tvm"}
	var out []string
	for _, e := range environments() {
		if _, err := os.Stat(filepath.Join(p.dir, e.Name, "ripc-installed")); err != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(scripts, e.Requirements))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(data)) {
			if name, version, ok := strings.Cut(strings.TrimSpace(line), "=="); ok && slices.Contains(engines, name) {
				out = append(out, name+" "+version)
			}
		}
	}
	return out, nil
}

// stamp is the hash of files.
func stamp(files ...string) ([]byte, error) {
	h := sha256.New()
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%d\n", len(data))
		h.Write(data)
	}
	return fmt.Appendf(nil, "%x\n", h.Sum(nil)), nil
}
