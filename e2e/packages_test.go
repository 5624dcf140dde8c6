package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
)

// TestPackages installs what make release packs as users do, in folders and an environment of their own, and compiles and runs a
// network with each.
func TestPackages(t *testing.T) {
	need.Packages(t)
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := apps{root: root, dir: dir}
	a.run(t, nil, root, "go", "run", "./scripts/release", "-out", dir, "-only", "linux-amd64")
	a.run(t, nil, dir, "sha256sum", "-c", "SHA256SUMS")
	digits := filepath.Join(root, "examples", "digits")
	home := []string{"HOME=" + filepath.Join(dir, "home"), "PATH=/usr/bin:/bin", "PYTHONPATH="}

	t.Run("deb", func(t *testing.T) {
		need.Tool(t, "dpkg-deb")
		to := filepath.Join(dir, "deb")
		name := filepath.Join(dir, "ripc_"+ripc.Version+"_amd64.deb")
		if facts := a.run(t, nil, dir, "dpkg-deb", "--info", name); !strings.Contains(facts, "Recommends: llvm-22") {
			t.Errorf("the facts are\n%s", facts)
		}
		for _, sub := range []string{"info", "updates", "triggers"} {
			if err := os.MkdirAll(filepath.Join(to, "var/lib/dpkg", sub), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(to, "var/lib/dpkg/status"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		a.run(t, nil, dir, "dpkg", "--root="+to, "--log="+filepath.Join(dir, "log"), "--force-depends", "--force-not-root", "--install", name)
		program := filepath.Join(to, "usr/bin/ripc")
		if out := a.run(t, home, dir, program, "compile", filepath.Join(digits, "digits.json"), "-o", "deb-digits"); !strings.Contains(out, "wrote deb-digits.so") {
			t.Errorf("compile says\n%s", out)
		}
		a.run(t, append(home, "PYTHONPATH="+filepath.Join(to, "usr/lib/python3/dist-packages")), dir, need.Numpy(t), "-c", "import ripc; ripc.load('deb-digits.so').run()")
	})
	t.Run("wheel", func(t *testing.T) {
		python := need.Numpy(t)
		a.run(t, nil, dir, python, "-m", "venv", "--system-site-packages", "venv") // numpy is the system's
		a.run(t, nil, dir, "venv/bin/python", "-m", "pip", "install", "--no-index", "--no-deps", filepath.Join(dir, "ripc-"+ripc.Version+"-py3-none-manylinux_2_17_x86_64.whl"))
		if out := a.run(t, home, dir, "venv/bin/ripc", "version"); !strings.HasPrefix(out, "ripc "+ripc.Version) {
			t.Errorf("version: %s", out)
		}
		const program = `
import sys, numpy, ripc
model, x = sys.argv[1], numpy.load(sys.argv[2])[:1]
net = ripc.compile(model, threads=2)
first, = net.run(x)
assert first.shape == (1, 10) and first.dtype == numpy.float32
ripc.build(model, "wheel-digits")
assert (ripc.load("wheel-digits.so").run(x)[0] == first).all()
assert ripc.verify(model)["ok"] and ripc.bench("wheel-digits.so")["median_ms"] > 0
assert ripc.bench(model, target="rpi3")["estimated_cycles"] > 0
assert set(ripc.build(model, "board/digits", target="cortex-m4", emit="c,h")["files"]) == {"c", "h"}
for wrong, want in (lambda: ripc.compile("none.json"), "none.json"), (lambda: ripc.compile(model, target="rpi3"), "build is for other machines"), (lambda: net.run(x, x), "2 inputs"):
    try:
        wrong()
        sys.exit(f"no error of {want}")
    except ripc.Error as e:
        assert want in str(e), e
print("all right")
`
		if out := a.run(t, home, dir, "venv/bin/python", "-c", program, filepath.Join(digits, "digits.json"), filepath.Join(digits, "data", "x_test.npy")); !strings.Contains(out, "all right") {
			t.Error(out)
		}
	})
	t.Run("image", func(t *testing.T) { // no builder of images is wanted: what it copies and installs has to be there
		text, err := os.ReadFile(filepath.Join(dir, "Dockerfile"))
		if err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(string(text), "/tmp/ripc_*.deb ")
		list, _, _ = strings.Cut(list, " &&")
		if len(strings.Fields(list)) < 4 {
			t.Fatalf("no packages in\n%s", text)
		}
		need.Tool(t, "apt-cache")
		a.run(t, nil, dir, "apt-cache", append([]string{"show", "--no-all-versions"}, strings.Fields(list)...)...)
	})
}

// TestPackagesOnArm: the programs of both packages for 64-bit Arm compile a network under qemu, to the same bytes as here.
func TestPackagesOnArm(t *testing.T) {
	need.Packages(t)
	qemu := need.Tool(t, "qemu-aarch64")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	a := apps{root: root, dir: t.TempDir()}
	a.run(t, nil, root, "scripts/setup-arm64.sh", filepath.Join(a.dir, "arm64")) // has the C library
	a.run(t, nil, root, "go", "run", "./scripts/release", "-out", a.dir, "-only", "linux-arm64")
	a.run(t, nil, "", "dpkg-deb", "--extract", "ripc_"+ripc.Version+"_arm64.deb", "deb")
	a.run(t, nil, "", "python3", "-m", "pip", "install", "--no-index", "--no-deps", "--only-binary", ":all:", "--platform", "manylinux_2_17_aarch64",
		"--target", "wheel", "ripc-"+ripc.Version+"-py3-none-manylinux_2_17_aarch64.whl")
	compile := []string{"compile", filepath.Join(root, "examples/digits/digits.json"), "--target", "rpi3", "-o"}
	a.run(t, nil, "", command(t), append(compile, "want")...)
	for name, program := range map[string]string{"deb": "deb/usr/bin/ripc", "wheel": "wheel/ripc/bin/ripc"} {
		line := []string{"-L", "arm64", program}
		if out := a.run(t, nil, "", qemu, append(line, "version")...); !strings.Contains(out, "linux/arm64") {
			t.Errorf("%s: version: %s", name, out)
		}
		a.run(t, nil, "", qemu, slices.Concat(line, compile, []string{"got-" + name})...)
		a.run(t, nil, "", "cmp", "want.so", "got-"+name+".so")
	}
}
