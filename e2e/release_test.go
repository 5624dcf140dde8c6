package e2e_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
)

// TestRelease makes what is shipped, and uses it: here, and under qemu with the C library of the boards' systems. The same source in
// another folder gives the same bytes.
func TestRelease(t *testing.T) {
	t.Parallel()
	need.All(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := apps{root: root, dir: dir}
	out := filepath.Join(dir, "out")
	a.run(t, nil, root, "go", "run", "./scripts/release", "-out", out)
	a.run(t, nil, out, "sha256sum", "-c", "SHA256SUMS")
	model := filepath.Join(root, "examples", "digits", "digits.json")
	picture := filepath.Join(root, "examples", "digits", "data", "x_test.npy")

	for _, c := range []struct {
		platform, target string
		through          []string
	}{
		{"linux-amd64", "host", nil},
		{"linux-arm64", "rpi3", []string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}},
		{"linux-armv7", "rpi3-armv7", []string{"qemu-arm", "-L", "/usr/arm-linux-gnueabihf"}},
		{"linux-riscv64", "riscv64", []string{"qemu-riscv64", "-L", "/usr/riscv64-linux-gnu"}},
	} {
		t.Run(c.platform, func(t *testing.T) {
			base := "ripc-" + ripc.Version + "-" + c.platform
			unpacked := unpack(t, filepath.Join(out, base+".tar.gz"))
			if len(unpacked.odd) > 0 {
				t.Errorf("entries that differ each time, or lie outside %s: %q", base, unpacked.odd)
			}
			top := filepath.Join(unpacked.dir, base)
			for _, f := range []string{"bin/ripc-worker-aarch64", "bin/ripc-worker-arm", "bin/ripc-worker-x86_64", "bin/ripc-worker-riscv64", "share/man/man1/ripc.1", "share/man/man1/ripc-compile.1",
				"share/bash-completion/completions/ripc", "share/zsh/site-functions/_ripc", "share/fish/vendor_completions.d/ripc.fish", "share/cmake/ripc/ripc-config.cmake",
				"share/pkgconfig/ripc.pc", "share/doc/ripc/LICENSE", "share/doc/ripc/THIRD-PARTY-LICENSES"} {
				if s, err := os.Stat(filepath.Join(top, f)); err != nil || s.Size() == 0 {
					t.Errorf("%s: %v", f, err)
				}
			}
			checkBill(t, filepath.Join(top, "share/doc/ripc/ripc.cdx.json"), filepath.Join(out, base+".cdx.json"))

			_, err := ripc.LLVM()
			need.OK(t, err)
			if c.through != nil {
				need.Tool(t, c.through[0])
				if _, err := os.Stat(c.through[2]); err != nil { // the C library comes with the cross compiler
					need.App(t, filepath.Base(c.through[2])+"-gcc")
				}
			}
			program := func(args ...string) string {
				line := append(append(append([]string{}, c.through...), filepath.Join(top, "bin/ripc")), args...)
				return a.run(t, nil, "", line[0], line[1:]...)
			}
			library := filepath.Join(dir, c.target)
			a.run(t, nil, root, "go", "run", "./cmd/ripc", "compile", model, "--target", c.target, "-o", library)
			if got := program("--version"); !strings.HasPrefix(got, "ripc "+ripc.Version) {
				t.Errorf("--version: %s", got)
			}
			if got := program("inspect", library+".so"); !strings.Contains(got, "conv2") {
				t.Errorf("inspect: %s", got)
			}
			program("run", library+".so", "--input", picture, "--output", filepath.Join(dir, c.platform))
			if got := program("bench", library+".so", "--threads", "2"); !strings.Contains(got, "whole network") {
				t.Errorf("bench: %s", got)
			}
			got, err := os.ReadFile(filepath.Join(dir, c.platform, "output_0.npy"))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(dir, "linux-amd64", "output_0.npy"))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("other bits than on this machine")
			}
			if c.target == "riscv64" { // a library for longer vectors, and no simulator
				longer := filepath.Join(dir, "longer")
				a.run(t, nil, root, "go", "run", "./cmd/ripc", "compile", model, "--target", "bpi-f3", "-o", longer)
				line := append(c.through, "-E", "PATH=", "-cpu", "rv64,v=true,vlen=128", filepath.Join(top, "bin/ripc"), "run", longer+".so", "--input", picture)
				text, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput()
				if err == nil || !strings.Contains(string(text), "vectors of 256 bits") || !strings.Contains(string(text), "--target host or riscv64") {
					t.Errorf("a library for longer vectors: %v\n%s", err, text)
				}
			}
			if c.target == "rpi3-armv7" {
				line := append(c.through, filepath.Join(top, "bin/ripc"), "inspect", model, "--target", "rpi3")
				text, err := exec.CommandContext(t.Context(), line[0], line[1:]...).CombinedOutput()
				if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(text), "64 bits only") {
					t.Errorf("a model on a machine of 32 bits: %v\n%s", err, text)
				}
			}
		})
	}
	t.Run("again", func(t *testing.T) {
		elsewhere := filepath.Join(t.TempDir(), "another folder")
		for _, name := range strings.Fields(a.run(t, nil, root, "git", "ls-files", "--cached", "--others", "--exclude-standard")) {
			if strings.Contains(name, "testdata/") {
				continue
			}
			content, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(elsewhere, name)), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(elsewhere, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a.run(t, []string{"TZ=Asia/Tokyo", "LC_ALL=C", "GOARM64=v8.2", "GOAMD64=v3"}, elsewhere, "go", "run", "./scripts/release", "-out", "out", "-only", "linux-amd64")
		name := "ripc-" + ripc.Version + "-linux-amd64.tar.gz"
		first, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		second, err := os.ReadFile(filepath.Join(elsewhere, "out", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, second) {
			t.Errorf("%s is another one when it is made again: %d and %d bytes", name, len(first), len(second))
		}
	})
}

// unpackedArchive is where an archive was unpacked to, and the entries with a time, an owner or a place of their own.
type unpackedArchive struct {
	dir string
	odd []string
}

func unpack(t *testing.T, name string) unpackedArchive {
	t.Helper()
	u := unpackedArchive{dir: t.TempDir()}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSuffix(filepath.Base(name), ".tar.gz") + "/"
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return u
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.ModTime.Year() != 1980 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || !strings.HasPrefix(h.Name, base) || !filepath.IsLocal(h.Name) {
			u.odd = append(u.odd, h.Name)
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(u.dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, os.FileMode(h.Mode)); err != nil {
			t.Fatal(err)
		}
	}
}

// checkBill looks at a list of what a program is made of: it must be the same inside the archive and beside it, and name what ripc
// surely holds.
func checkBill(t *testing.T, inside, beside string) {
	t.Helper()
	text, err := os.ReadFile(inside)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := os.ReadFile(beside); err != nil || !bytes.Equal(text, other) {
		t.Errorf("%s differs from %s: %v", inside, beside, err)
	}
	var bill struct {
		BOMFormat, SpecVersion string
		Components             []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(text, &bill); err != nil {
		t.Fatal(err)
	}
	if bill.BOMFormat != "CycloneDX" || bill.SpecVersion != "1.5" {
		t.Errorf("the list is %s %s", bill.BOMFormat, bill.SpecVersion)
	}
	in := map[string]bool{}
	for _, c := range bill.Components {
		in[c.Name] = c.Purl == "pkg:golang/"+c.Name+"@"+c.Version && c.Version != ""
	}
	for _, name := range []string{"std", "github.com/ebitengine/purego", "github.com/llir/llvm", "github.com/spf13/cobra"} {
		if !in[name] {
			t.Errorf("the list does not name %s as it should", name)
		}
	}
}
