// Command release makes the shipped files: for each architecture an archive of ripc, the workers,
// manual pages, completions, the CMake module, the pkg-config file and all licences; the same as a
// package of Debian, and as a wheel for Python; a Dockerfile. It writes a list of the modules in
// the programs (CycloneDX), and the checksums of all files. The same source and the same Go make
// the same bytes.
//
//	go run ./scripts/release [-out build/release] [-only PLATFORM]
//	go run ./scripts/release -workers bin      # the workers alone
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ripc"
	"ripc/autotune/runner"
	"ripc/targets/guests"
)

func main() {
	out := flag.String("out", "build/release", "`folder` to write to")
	only := flag.String("only", "", "the one `platform` to make an archive for, as archives are called")
	workers := flag.String("workers", "", "build the workers alone, into this `folder`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *workers != "" {
		err = buildWorkers(ctx, *workers)
	} else {
		err = release(ctx, *out, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// programPackage and workerPackage are the packages to build, from the root of the module.
const (
	programPackage = "./cmd/ripc"
	workerPackage  = "./cmd/ripc-worker"
)

// platform names the archives for g: Go's names, and the version of the architecture where there
// are several.
func platform(g guests.Guest) string {
	name := "linux-"
	for _, v := range g.Go {
		key, value, _ := strings.Cut(v, "=")
		if key != "GOARCH" {
			name += "v"
		}
		name += value
	}
	return name
}

// build builds a package as a program for g.
func build(ctx context.Context, g guests.Guest, pkg, out string, static bool) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	args, env := g.GoBuild(pkg, out, static)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building %s for %s: %w", pkg, platform(g), err)
	}
	return nil
}

// buildWorkers puts the workers for all architectures into a folder.
func buildWorkers(ctx context.Context, dir string) error {
	for _, g := range guests.All() {
		if err := build(ctx, g, workerPackage, filepath.Join(dir, runner.WorkerName(g.Arch)), true); err != nil {
			return err
		}
	}
	return nil
}

// release makes the archives, for one platform or all.
func release(ctx context.Context, out, only string) error {
	work, err := os.MkdirTemp("", "ripc-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := buildWorkers(ctx, work); err != nil {
		return err
	}
	var here string // the program for this machine, which writes its own pages
	for _, g := range guests.All() {
		program, isHere := filepath.Join(work, platform(g)), platform(g) == "linux-"+runtime.GOARCH
		if only != "" && only != platform(g) && !isHere {
			continue
		}
		if err := build(ctx, g, programPackage, program, false); err != nil {
			return err
		}
		if isHere {
			here = program
		}
	}
	if here == "" {
		return fmt.Errorf("archives are made on machines that there is an archive for, and this is %s/%s", runtime.GOOS,
			runtime.GOARCH)
	}
	common, err := commonFiles(ctx, here, work)
	if err != nil {
		return err
	}
	for _, g := range guests.All() {
		content, err := os.ReadFile(filepath.Join(work, runner.WorkerName(g.Arch)))
		if err != nil {
			return err
		}
		common = append(common, file{"bin/" + runner.WorkerName(g.Arch), 0o755, content})
	}
	made := map[string][]byte{"Dockerfile": []byte(dockerfile)}
	for _, g := range guests.All() {
		if only != "" && only != platform(g) {
			continue
		}
		base := "ripc-" + ripc.Version + "-" + platform(g)
		program := filepath.Join(work, platform(g))
		content, err := os.ReadFile(program)
		if err != nil {
			return err
		}
		modules, err := modulesOf(ctx, program, filepath.Join(work, runner.WorkerName(g.Arch)))
		if err != nil {
			return err
		}
		bill, err := modules.bill(base)
		if err != nil {
			return err
		}
		licences, err := modules.licences()
		if err != nil {
			return err
		}
		made[base+".cdx.json"] = bill
		files := append([]file{
			{"bin/ripc", 0o755, content},
			{"share/doc/ripc/ripc.cdx.json", 0o644, bill},
			{"share/doc/ripc/THIRD-PARTY-LICENSES", 0o644, licences},
		}, common...)
		if made[base+".tar.gz"], err = archive(base, files); err != nil {
			return err
		}
		packed, err := packages(g, files)
		if err != nil {
			return err
		}
		maps.Copy(made, packed)
	}
	if len(made) == 1 {
		return fmt.Errorf("there is no platform %q", only)
	}
	var sums bytes.Buffer
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(keys(made)) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(made[name]), name)
		if err := os.WriteFile(filepath.Join(out, name), made[name], 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(out, "SHA256SUMS"), sums.Bytes(), 0o644); err != nil {
		return err
	}
	_, err = fmt.Print(sums.String())
	return err
}

// commonFiles are the files that are the same in all archives, program being ripc for this machine.
func commonFiles(ctx context.Context, program, work string) ([]file, error) {
	say := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("ripc %s: %w", strings.Join(args, " "), err)
		}
		return text, nil
	}
	pages := filepath.Join(work, "man1")
	if _, err := say("man", pages); err != nil {
		return nil, err
	}
	var files []file
	for from, to := range map[string]string{pages: "share/man/man1", "share/cmake": "share/cmake",
		"share/pkgconfig": "share/pkgconfig"} {
		err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(from, name)
			if err != nil {
				return err
			}
			content, err := os.ReadFile(name)
			files = append(files, file{path.Join(to, filepath.ToSlash(rel)), 0o644, content})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for shell, name := range map[string]string{"bash": "bash-completion/completions/ripc",
		"zsh": "zsh/site-functions/_ripc", "fish": "fish/vendor_completions.d/ripc.fish"} {
		text, err := say("completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"share/" + name, 0o644, text})
	}
	for from, to := range map[string]string{"share/python/ripc/__init__.py": "ripc/__init__.py",
		"examples/python/ripc.py": "ripc/network.py"} {
		content, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		files = append(files, file{pythonFiles + to, 0o644, content})
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"share/doc/ripc/" + name, 0o644, content})
	}
	return files, nil
}
