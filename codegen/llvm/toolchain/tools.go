// Package toolchain drives the LLVM command-line tools that turn ripc's LLVM IR into objects,
// shared libraries and archives: opt, llc, llvm-mc, ld.lld, llvm-ar and llvm-objcopy. It needs no
// compiler driver, no libc and no C runtime objects, works for every target alike, and writes the
// same bytes for the same input.
//
//	tools, err := toolchain.Find()
//	cache, err := caches.Objects()
//	objs, err := tools.CompileAll(ctx, cache, jobs)           // opt | llc, in parallel, cached
//	weights, err := toolchain.Constants(target, blobs)
//	err = tools.LinkShared(ctx, target, objs, exports, "net.so", "net.so")
package toolchain

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"ripc/codegen/llvm/library"
	"ripc/targets"
)

// EnvBin is the environment variable with the folder of the LLVM tools; if set, no other place is
// searched.
const EnvBin = "RIPC_LLVM_BIN"

// EnvLibrary is the environment variable with "off" where opt and llc are to be started for each
// kernel, though their shared library would do.
const EnvLibrary = "RIPC_LLVM_LIBRARY"

// Install is the command that provides every tool on Debian.
const Install = "apt-get install --no-install-recommends llvm-22 lld-22"

// MissingToolError says that an LLVM tool was not found, and how to get it.
type MissingToolError struct {
	Tool    string // e.g. "llc-22"
	Install string // a command that installs it
	Looked  string // where it was searched, in prose
}

// MissingTool marks the error for callers that know no tool.
func (*MissingToolError) MissingTool() {}

func (e *MissingToolError) Error() string {
	return fmt.Sprintf("%s not found in %s; install it with\n    %s\nor set %s to a folder that holds the LLVM "+
		"tools (version 22 or 19)",
		e.Tool, e.Looked, e.Install, EnvBin)
}

// Tools is a complete set of LLVM tools of one version. It is immutable and safe for concurrent
// use.
type Tools struct {
	version string
	paths   map[string]string                // base name ("opt") -> absolute path
	locate  func(base string) (string, bool) // finds further tools of the same set
	library *library.Library                 // of opt and llc, which makes their objects; nil if they have none
}

// versions returns the LLVM releases ripc is tested with, best first.
func versions() []string { return []string{"22", "19"} }

// required returns the base names of the tools without which nothing can be built.
func required() []string {
	return []string{"opt", "llc", "llvm-mc", "ld.lld", "llvm-ar", "llvm-objcopy"}
}

// finder is where Find looks; tests replace its parts.
type finder struct {
	getenv   func(string) string
	lookPath func(string) (string, error)
	prefix   string // "/usr/lib/llvm-", to which a version is added
}

// Find searches, in this order: the folder in $RIPC_LLVM_BIN and nothing else; then for LLVM 22,
// and after that for 19, the names with the version ("opt-22") on PATH and the names without it in
// /usr/lib/llvm-22/bin. All tools come from one version. It fails with *MissingToolError.
func Find() (*Tools, error) {
	return finder{os.Getenv, exec.LookPath, "/usr/lib/llvm-"}.find()
}

func (f finder) find() (*Tools, error) {
	t, err := f.first(required()...)
	if err == nil {
		err = t.askVersion()
	}
	if err != nil {
		return nil, err
	}
	return f.withLibrary(t), nil
}

// Lookup returns the absolute path of one LLVM tool, wherever Find looks, without wanting the
// others. It fails with *MissingToolError.
func Lookup(base string) (string, error) {
	t, err := finder{os.Getenv, exec.LookPath, "/usr/lib/llvm-"}.first(base)
	if err != nil {
		return "", err
	}
	return t.paths[base], nil
}

// first finds the tools in the first place that has them all. If none has, it tells which tool the
// first place lacks.
func (f finder) first(bases ...string) (*Tools, error) {
	if dir := f.getenv(EnvBin); dir != "" {
		t := &Tools{locate: func(base string) (string, bool) { return f.inDir(dir, base) }}
		if missing := t.fill(bases); missing != "" {
			return nil, &MissingToolError{missing, Install, EnvBin + "=" + dir}
		}
		return t, nil
	}
	lacks := ""
	for _, v := range versions() {
		t := &Tools{locate: func(base string) (string, bool) { return f.versioned(base, v) }}
		missing := t.fill(bases)
		if missing == "" {
			return t, nil
		}
		lacks = cmp.Or(lacks, missing+"-"+v)
	}
	return nil, &MissingToolError{lacks, Install, fmt.Sprintf("PATH and %s%s/bin", f.prefix, versions()[0])}
}

// inDir finds base in dir, with or without a version in its name.
func (f finder) inDir(dir, base string) (string, bool) {
	names := []string{base}
	for _, v := range versions() {
		names = append(names, base+"-"+v)
	}
	for _, n := range names {
		if p, err := exec.LookPath(filepath.Join(dir, n)); err == nil {
			return absolute(p), true
		}
	}
	return "", false
}

// versioned finds base of LLVM version v.
func (f finder) versioned(base, v string) (string, bool) {
	if p, err := f.lookPath(base + "-" + v); err == nil {
		return absolute(p), true
	}
	if p, err := exec.LookPath(filepath.Join(f.prefix+v, "bin", base)); err == nil {
		return absolute(p), true
	}
	return "", false
}

// absolute makes path independent of the working folder; tools run in temporary ones.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// fill locates the tools and returns the first one that is missing.
func (t *Tools) fill(bases []string) (missing string) {
	t.paths = map[string]string{}
	for _, base := range bases {
		p, ok := t.locate(base)
		if !ok {
			return base
		}
		t.paths[base] = p
	}
	return ""
}

// askVersion sets the version that llc tells, which also proves that the tools start.
func (t *Tools) askVersion() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := t.Run(ctx, "llc", nil, "--version")
	if err != nil {
		return fmt.Errorf("asking for LLVM's version: %w", err)
	}
	m := regexp.MustCompile(`LLVM version (\d+\.\d+\.\d+\S*)`).FindSubmatch(out)
	if m == nil {
		return fmt.Errorf("%s --version names no LLVM version; it says: %s", t.paths["llc"],
			strings.TrimSpace(string(out)))
	}
	t.version = string(m[1])
	return nil
}

// withLibrary gives t the shared library of opt and llc, unless the environment forbids it.
func (f finder) withLibrary(t *Tools) *Tools {
	if f.getenv(EnvLibrary) != "off" {
		if file, ok := library.Of(t.paths["opt"], t.paths["llc"]); ok {
			t.library = library.New(file, t.version)
		}
	}
	return t
}

// WithoutLibrary are the same tools, but opt and llc themselves make all objects.
func (t *Tools) WithoutLibrary() *Tools {
	return &Tools{version: t.version, paths: t.paths, locate: t.locate}
}

// Library returns LLVM's shared library if it makes the objects of opt and llc for a target without
// starting them. It returns "" if there is no such library, or if a trial fails.
func (t *Tools) Library(ctx context.Context, tg targets.Target) string {
	if t.library == nil {
		return ""
	}
	if _, err := t.library.Compile(ctx, t.settings(tg), nil); err != nil {
		return ""
	}
	return t.library.File()
}

// Version returns LLVM's version, e.g. "22.1.8".
func (t *Tools) Version() string { return t.version }

// Path returns the absolute path of a tool of the set by its base name, e.g. "llvm-mca" or
// "llvm-objdump". It fails with *MissingToolError.
func (t *Tools) Path(base string) (string, error) {
	if p, ok := t.paths[base]; ok {
		return p, nil
	}
	if p, ok := t.locate(base); ok {
		return p, nil
	}
	return "", &MissingToolError{base, Install, "the folder of " + t.paths["llc"]}
}
