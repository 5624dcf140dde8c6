package peers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// environment is a Python environment with engines in it. They want versions of their dependencies that exclude each other.
type environment struct {
	Name         string
	Requirements string // file in lab/peers/python: every package with its version
	Models       string // program there that writes the models of these engines
}

// pythonVersion is the one that all requirements are for: the newest that Larq Compute Engine has packages for.
const pythonVersion = "3.11"

// scripts is where the Python programs are, from the top folder.
const scripts = "lab/peers/python"

func environments() []environment {
	return []environment{
		{"onnx", "requirements-onnx.txt", "models_onnx.py"},
		{"larq", "requirements-larq.txt", "models_larq.py"}, // also the TFLite files for LiteRT, which its TensorFlow makes
		{"tvm", "requirements-tvm.txt", "models_tvm.py"},
	}
}

func (b *bench) models() string { return filepath.Join(b.dir, "models") }

// interpreter is the Python of an environment.
func (b *bench) interpreter(name string) string { return filepath.Join(b.dir, name, "bin", "python") }

// peerWorker is the command that runs an entry.
func (b *bench) peerWorker(e Entry, threads int) []string {
	return []string{b.interpreter(e.Env), filepath.Join(scripts, "worker.py"), e.Worker, e.file(b.models()), fmt.Sprint(threads)}
}

// installAll installs the environments and makes the models that are not there yet. It returns what cannot be had, by the name of the
// environment, and why.
func (b *bench) installAll(ctx context.Context) (map[string]string, error) {
	missing := map[string]string{}
	if err := os.MkdirAll(b.models(), 0o755); err != nil {
		return nil, err
	}
	for _, e := range environments() {
		if err := b.install(ctx, e); err != nil {
			missing[e.Name] = err.Error()
		} else if err := b.makeModels(ctx, e); err != nil {
			missing[e.Name] = err.Error()
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return missing, nil
}

// install makes an environment, unless it is there with the same requirements.
func (b *bench) install(ctx context.Context, e environment) error {
	requirements := filepath.Join(scripts, e.Requirements)
	wanted, err := stamp(requirements)
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, e.Name)
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
			{uv, "pip", "install", "--quiet", "--python", b.interpreter(e.Name), "-r", requirements},
		}
	} else {
		python, err := b.find(ctx)
		if err != nil {
			return err
		}
		steps = [][]string{
			{python, "-m", "venv", dir},
			{b.interpreter(e.Name), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements},
		}
	}
	for _, s := range steps {
		if err := b.do(ctx, e.Name+": installing "+e.Requirements, s); err != nil {
			return err
		}
	}
	return os.WriteFile(mark, wanted, 0o644)
}

// find finds a Python of the version that the requirements are for.
func (b *bench) find(ctx context.Context) (string, error) {
	names := []string{"python" + pythonVersion, "python3", "python"}
	if b.python != "" {
		names = []string{b.python}
	}
	for _, name := range names {
		out, err := exec.CommandContext(ctx, name, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])").Output()
		if err == nil && strings.TrimSpace(string(out)) == pythonVersion {
			return name, nil
		}
	}
	return "", fmt.Errorf("no Python %s with venv (tried %s); install it, or uv, or name it with -python", pythonVersion, strings.Join(names, ", "))
}

// makeModels makes the models of an environment, unless the same programs have made them.
func (b *bench) makeModels(ctx context.Context, e environment) error {
	wanted, err := stamp(filepath.Join(scripts, e.Requirements), filepath.Join(scripts, e.Models), filepath.Join(scripts, "networks.py"))
	if err != nil {
		return err
	}
	mark := filepath.Join(b.models(), "made-"+e.Name)
	if has, err := os.ReadFile(mark); err == nil && bytes.Equal(has, wanted) {
		return nil
	}
	if err := b.do(ctx, e.Name+": making models", []string{b.interpreter(e.Name), filepath.Join(scripts, e.Models), b.models()}); err != nil {
		return err
	}
	return os.WriteFile(mark, wanted, 0o644)
}

// do runs a command and keeps what it prints for the case that it fails.
func (b *bench) do(ctx context.Context, what string, command []string) error {
	fmt.Fprintf(os.Stderr, "%s (%s)\n", what, b.dir)
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s\n%s\n", strings.Join(command, " "), out.String())
		return fmt.Errorf("%s failed: %s", what, lastLine(out.String()))
	}
	return nil
}

// versions lists the packages of all environments that are there, as their requirements give them: the engines alone.
func (b *bench) versions() ([]string, error) {
	engines := []string{"onnxruntime", "ai-edge-litert", "larq-compute-engine", "tensorflow-cpu", "apache-tvm"}
	var out []string
	for _, e := range environments() {
		if _, err := os.Stat(filepath.Join(b.dir, e.Name, "ripc-installed")); err != nil {
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

// stamp says what files contain.
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
