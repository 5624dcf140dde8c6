package e2e_test

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ripc"
	"ripc/internal/need"
	"ripc/runtime/npy"
)

// right is what every program of the examples says of digits, on all machines: they compute the same bits.
const right = "356 of 360 right, "

// apps is a copy of ripc and of the examples, which the tests of programs build in.
type apps struct {
	root, dir string
	data      []string // pictures and answers
}

func newApps(t *testing.T) apps {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	a := apps{root: root, dir: t.TempDir()}
	for _, f := range []string{"x_test.npy", "y_test.npy"} {
		a.data = append(a.data, filepath.Join(root, "examples", "digits", "data", f))
	}
	for _, folder := range []string{"examples", "share"} {
		if err := os.CopyFS(filepath.Join(a.dir, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(a.dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(command(t), filepath.Join(a.dir, "bin", "ripc")); err != nil {
		t.Fatal(err)
	}
	return a
}

// run runs a command in dir, below a.dir unless it is absolute, and returns what it prints.
func (a apps) run(t *testing.T, env []string, dir, command string, args ...string) string {
	t.Helper()
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.dir, dir)
	}
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", command, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// mustSay fails unless out says that target's program is right.
func mustSay(t *testing.T, out, target string) {
	t.Helper()
	if !strings.Contains(out, right+target) {
		t.Errorf("want %q in\n%s", right+target, out)
	}
}

// TestApps builds the programs of examples/c-app, go-app and python as their pages say, for this machine and for boards, runs them
// on real pictures, under qemu where need be, and wants the same answers of all. make test takes one board of each way to build.
func TestApps(t *testing.T) {
	t.Parallel()
	_, err := ripc.LLVM()
	need.OK(t, err)
	a := newApps(t)
	t.Run("make", func(t *testing.T) {
		for _, c := range []struct {
			target, compiler, qemu string
			args                   []string
		}{
			{"host", "cc", "", nil}, {"host", "cc", "", []string{"EMIT=c"}}, {"rpi3-armv7", "arm-linux-gnueabihf-gcc", "qemu-arm", []string{"OPENMP=1"}},
			{"rpi3", "aarch64-linux-gnu-gcc", "qemu-aarch64", nil},
		} {
			if c.target == "rpi3" && !need.AllApps() {
				continue
			}
			t.Run(strings.Join(append([]string{c.target}, c.args...), " "), func(t *testing.T) {
				if c.qemu != "" {
					need.App(t, c.compiler)
					need.Tool(t, c.qemu)
				}
				mustSay(t, a.run(t, nil, "", "make", append([]string{"-C", "examples/c-app", "run", "TARGET=" + c.target}, c.args...)...), c.target)
			})
		}
	})
	t.Run("cmake", func(t *testing.T) {
		need.App(t, "cmake")
		for _, c := range []struct {
			name string
			args []string
			run  []string // before the program
		}{
			{"host", []string{"-DOPENMP=ON"}, nil}, {"host", []string{"-DKIND=so"}, nil}, {"host", []string{"-DKIND=c"}, nil},
			{"rpi3", []string{"-DTARGET=rpi3", "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc"},
				[]string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}},
		} {
			t.Run(strings.Join(append([]string{c.name}, c.args...), " "), func(t *testing.T) {
				if c.run != nil {
					need.App(t, "aarch64-linux-gnu-gcc")
					need.Tool(t, c.run[0])
				}
				build := filepath.Join(t.TempDir(), "b")
				a.run(t, nil, "", "cmake", append([]string{"-S", "examples/c-app", "-B", build, "-DCMAKE_PREFIX_PATH=" + a.dir}, c.args...)...)
				a.run(t, nil, "", "cmake", "--build", build)
				line := append(append(c.run, filepath.Join(build, "digits_app")), a.data...)
				mustSay(t, a.run(t, nil, "", line[0], line[1:]...), c.name)
				if out := a.run(t, nil, "", "cmake", "--build", build); strings.Contains(out, "ripc compile") {
					t.Errorf("compiled again though nothing changed:\n%s", out)
				}
			})
		}
		t.Run("weights of a network with a dot in its name", func(t *testing.T) {
			dir := filepath.Join(a.dir, "dotted")
			text := "cmake_minimum_required(VERSION 3.16)\nproject(x C)\nfind_package(ripc 0.1 REQUIRED)\nripc_add_network(dotted MODEL digits.v2.json KIND c)\n"
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			model, err := os.ReadFile("../examples/digits/digits.json")
			if err != nil {
				t.Fatal(err)
			}
			weights, err := os.ReadFile("../examples/digits/digits.safetensors")
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{"CMakeLists.txt": []byte(text), "digits.v2.json": bytes.ReplaceAll(model, []byte("digits.safetensors"), []byte("digits.v2.safetensors")), "digits.v2.safetensors": weights} {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			build := filepath.Join(dir, "b")
			a.run(t, nil, "", "cmake", "-S", dir, "-B", build, "-DCMAKE_PREFIX_PATH="+a.dir)
			a.run(t, nil, "", "cmake", "--build", build)
			later := time.Now().Add(time.Minute)
			if err := os.Chtimes(filepath.Join(dir, "digits.v2.safetensors"), later, later); err != nil {
				t.Fatal(err)
			}
			if out := a.run(t, nil, "", "cmake", "--build", build); !strings.Contains(out, "ripc compile") {
				t.Errorf("new weights changed nothing:\n%s", out)
			}
		})
		t.Run("another machine without its name", func(t *testing.T) {
			need.App(t, "aarch64-linux-gnu-gcc")
			dir := filepath.Join(a.dir, "nameless")
			text := "cmake_minimum_required(VERSION 3.16)\nproject(x C)\nfind_package(ripc 0.1 REQUIRED)\nripc_add_network(digits MODEL ../examples/digits/digits.json)\n"
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "CMakeLists.txt"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), "cmake", "-S", dir, "-B", filepath.Join(dir, "b"), "-DCMAKE_SYSTEM_NAME=Linux",
				"-DCMAKE_PREFIX_PATH="+a.dir, "-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc").CombinedOutput()
			if err == nil || !strings.Contains(string(out), "TARGET") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	})
	t.Run("rust", func(t *testing.T) {
		need.App(t, "cargo")
		env := []string{"RIPC=" + filepath.Join(a.dir, "bin", "ripc"), "CARGO_TARGET_DIR=" + t.TempDir()}
		mustSay(t, a.run(t, env, "examples/rust", "cargo", append([]string{"run", "--offline", "--quiet"}, a.data...)...), "host")
	})
	t.Run("cpp", func(t *testing.T) { // for this machine examples/cpp/README.md has the commands
		need.App(t, "aarch64-linux-gnu-g++")
		need.Tool(t, "qemu-aarch64")
		dir := t.TempDir()
		a.run(t, nil, "", "bin/ripc", "compile", "examples/digits/digits.json", "--target", "rpi3", "--emit", "a,h,hpp", "-o", filepath.Join(dir, "digits"))
		program := filepath.Join(dir, "cpp")
		a.run(t, nil, "", "aarch64-linux-gnu-g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", "-static", "-I"+dir,
			"examples/cpp/main.cpp", filepath.Join(dir, "digits.a"), "-o", program)
		mustSay(t, a.run(t, nil, "", "qemu-aarch64", append([]string{program}, a.data...)...), "rpi3")
	})
	t.Run("package of source", func(t *testing.T) { // as a folder of CMake; the facts for other build systems are compared with its files
		need.App(t, "cmake")
		dir := t.TempDir()
		a.run(t, nil, "", "bin/ripc", "compile", "examples/digits/digits.json", "--target", "cortex-m4", "--emit", "zip", "-o", filepath.Join(dir, "digits"))
		z, err := zip.OpenReader(filepath.Join(dir, "digits.zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		if err := os.CopyFS(dir, z); err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			Name, Version, Headers string
			Build                  struct{ SrcDir, IncludeDir string }
		}
		text, err := os.ReadFile(filepath.Join(dir, "digits", "library.json"))
		if err == nil {
			err = json.Unmarshal(text, &manifest)
		}
		if err != nil || manifest.Name != "digits" || manifest.Version != ripc.Version {
			t.Errorf("PlatformIO reads %+v, %v", manifest, err)
		}
		for _, f := range []string{filepath.Join(manifest.Build.SrcDir, "digits.c"), filepath.Join(manifest.Build.IncludeDir, manifest.Headers), "zephyr/module.yml", "library.properties"} {
			if _, err := os.Stat(filepath.Join(dir, "digits", f)); err != nil {
				t.Error(err)
			}
		}
		list := "cmake_minimum_required(VERSION 3.16)\nproject(x C)\nadd_subdirectory(digits)\nadd_executable(app " + filepath.Join(a.dir, "examples/c-app/main.c") +
			")\ntarget_link_libraries(app digits)\n" +
			"function(zephyr_library_named)\nendfunction()\nfunction(zephyr_include_directories dir)\nendfunction()\n" + // Zephyr's, in its place
			"function(zephyr_library_sources file)\nget_filename_component(f ${file} ABSOLUTE)\nif(NOT EXISTS ${f})\nmessage(FATAL_ERROR ${f})\nendif()\nendfunction()\n" +
			"add_subdirectory(digits/zephyr)\n"
		if err := os.WriteFile(filepath.Join(dir, "CMakeLists.txt"), []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		a.run(t, nil, dir, "cmake", "-S", ".", "-B", "b", "-DCMAKE_BUILD_TYPE=Release")
		a.run(t, nil, dir, "cmake", "--build", "b")
		mustSay(t, a.run(t, nil, dir, "b/app", a.data...), "cortex-m4")
	})
	t.Run("PlatformIO", func(t *testing.T) { // as the page says, with the platform of this machine
		pio := needPlatformIO(t)
		dir := t.TempDir()
		a.run(t, nil, "", "bin/ripc", "compile", "examples/digits/digits.json", "--target", "cortex-m4", "--emit", "zip", "-o", filepath.Join(dir, "digits"))
		settings := "[env:native]\nplatform = native\nbuild_flags = -O2\nlib_deps = file://" + filepath.Join(dir, "digits.zip") + "\n"
		if err := os.WriteFile(filepath.Join(dir, "platformio.ini"), []byte(settings), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(dir, "src"), os.DirFS(filepath.Join(a.dir, "examples/c-app"))); err != nil {
			t.Fatal(err)
		}
		a.run(t, []string{"PLATFORMIO_SETTING_ENABLE_TELEMETRY=no"}, dir, pio, "run")
		mustSay(t, a.run(t, nil, dir, ".pio/build/native/program", a.data...), "cortex-m4")
	})
	t.Run("go", func(t *testing.T) {
		mod := filepath.Join(a.dir, "examples", "go-app", "go.mod")
		text, err := os.ReadFile(mod)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(mod, bytes.Replace(text, []byte("=> ../.."), []byte("=> "+a.root), 1), 0o644); err != nil {
			t.Fatal(err)
		}
		env := []string{"GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0"}
		t.Run("host", func(t *testing.T) {
			a.run(t, env, "examples/go-app", "go", "generate")
			a.run(t, env, "examples/go-app", "go", "vet", ".")
			mustSay(t, a.run(t, env, "examples/go-app", "go", append([]string{"run", "."}, a.data...)...), "host")
		})
		for _, c := range []struct {
			target  string
			env     []string
			ldflags string
			run     []string
		}{
			{"rpi3", []string{"GOARCH=arm64"}, "", []string{"qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"}},
			{"rpi3-armv7", []string{"GOARCH=arm", "GOARM=7"}, "-I /lib/ld-linux-armhf.so.3", []string{"qemu-arm", "-L", "/usr/arm-linux-gnueabihf"}},
		} {
			if c.target == "rpi3-armv7" && !need.AllApps() {
				continue
			}
			t.Run(c.target, func(t *testing.T) {
				need.Tool(t, c.run[0])
				if _, err := os.Stat(c.run[2]); err != nil { // the C library of the boards' system comes with the cross compiler
					need.App(t, filepath.Base(c.run[2])+"-gcc")
				}
				program := filepath.Join(t.TempDir(), "go-app")
				a.run(t, nil, "examples/go-app", "../../bin/ripc", "compile", "../digits/digits.json", "--target", c.target, "-o", "digits")
				a.run(t, append(c.env, env...), "examples/go-app", "go", "build", "-ldflags", c.ldflags, "-o", program, ".")
				line := append(append(c.run, program), a.data...)
				mustSay(t, a.run(t, nil, "", line[0], line[1:]...), c.target)
			})
		}
	})
	t.Run("python", func(t *testing.T) {
		python := need.Numpy(t)
		lib, logits := filepath.Join(a.dir, "py", "digits"), filepath.Join(a.dir, "py", "logits.npy")
		a.run(t, nil, "", "bin/ripc", "compile", "examples/digits/digits.json", "-o", lib)
		env := []string{"PYTHONDONTWRITEBYTECODE=1"}
		mustSay(t, a.run(t, env, "", python, append([]string{"examples/python/classify.py", lib + ".so"}, append(a.data, logits)...)...), "host")
		a.run(t, nil, "", "bin/ripc", "run", lib+".so", "--input", a.data[0], "--output", filepath.Join(a.dir, "py", "out"))
		got, err := npy.ReadFile(logits)
		if err != nil {
			t.Fatal(err)
		}
		want, err := npy.ReadFile(filepath.Join(a.dir, "py", "out", "output_0.npy"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Data, want.Data) || len(got.Data) != 360*40 {
			t.Error("Python computes other bits than ripc run")
		}
		// What a beginner might do, each with a message and no traceback.
		a.run(t, nil, "", "bin/ripc", "compile", "examples/digits/digits.json", "--target", "rpi3", "-o", filepath.Join(a.dir, "py", "rpi3"))
		a.run(t, nil, "", "bin/ripc", "compile", "examples/digits/digits.json", "--no-describe", "-o", filepath.Join(a.dir, "py", "bare"))
		for file, want := range map[string]string{"rpi3.so": "for aarch64, this machine is", "bare.so": "--no-describe", "digits.h": "no compiled network"} {
			cmd := exec.CommandContext(t.Context(), python, append([]string{"examples/python/classify.py", filepath.Join(a.dir, "py", file)}, a.data...)...)
			cmd.Dir = a.dir
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "Traceback") {
				t.Errorf("%s: %v\n%s", file, err, out)
			}
		}
		for call, want := range map[string]string{
			"ripc.Network('py/digits.so', threads=0)":                                      "threads: 0, give 1 to 256",
			"ripc.Network('py/digits.so', threads=257)":                                    "threads: 257",
			"ripc.Network('py/digits.so').run(numpy.zeros(256))":                           "give array.astype('float32')",
			"ripc.Network('py/digits.so').run(numpy.zeros((2, 16, 15, 1), numpy.float32))": "a run takes 256 numbers",
			"ripc.Network('py/digits.so').run(numpy.zeros((16, 32), numpy.float32))":       "a run takes 256 numbers",
		} {
			code := "import numpy, ripc\ntry: " + call + "\nexcept ripc.Error as e: print(e)"
			if out := a.run(t, append(env, "PYTHONPATH=examples/python"), "", python, "-c", code); !strings.Contains(out, want) {
				t.Errorf("%s: %s", call, out)
			}
		}
		t.Run("rpi3", func(t *testing.T) {
			t.Skip("skipped: Debian's set-up has no Python for Arm on this machine; the bits of rpi3 are those of the host, which the programs in C and Go show")
		})
	})
}

// needPlatformIO finds PlatformIO with the packages that build for this machine. No set-up promises
// them: they come from PlatformIO's registry, and not from Debian's or Python's.
func needPlatformIO(t *testing.T) string {
	t.Helper()
	pio, err := exec.LookPath("pio")
	if err != nil {
		t.Skip("skipped: ", err, " (pip install platformio)")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("skipped: ", err)
	}
	core := cmp.Or(os.Getenv("PLATFORMIO_CORE_DIR"), filepath.Join(home, ".platformio"))
	for _, folder := range []string{"platforms/native", "packages/tool-scons"} {
		if _, err := os.Stat(filepath.Join(core, folder)); err != nil {
			t.Skip("skipped: ", err, " (pio pkg install --global --platform native)")
		}
	}
	return pio
}

// TestInstall installs below a folder, and uses what is there: the program, the CMake module and pkg-config.
func TestInstall(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a := apps{root: root, dir: dir}
	a.run(t, nil, root, "make", "install", "PREFIX="+dir+"/usr", "GO=go", "BIN="+filepath.Join(dir, "built"))
	for _, f := range []string{"bin/ripc", "share/man/man1/ripc.1", "share/man/man1/ripc-compile.1", "share/bash-completion/completions/ripc",
		"share/zsh/site-functions/_ripc", "share/fish/vendor_completions.d/ripc.fish", "share/cmake/ripc/ripc-config.cmake", "share/pkgconfig/ripc.pc"} {
		if s, err := os.Stat(filepath.Join(dir, "usr", f)); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	for _, f := range []string{"share/cmake/ripc/ripc-config-version.cmake", "share/pkgconfig/ripc.pc"} {
		text, err := os.ReadFile(filepath.Join(dir, "usr", f))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`(?m)(^Version: |PACKAGE_VERSION ")` + regexp.QuoteMeta(ripc.Version) + `"?\)?$`).Match(text) {
			t.Errorf("%s is of another version than %s:\n%s", f, ripc.Version, text)
		}
	}
	t.Run("pkg-config", func(t *testing.T) {
		need.App(t, "pkg-config")
		env := []string{"PKG_CONFIG_PATH=" + filepath.Join(dir, "usr/share/pkgconfig")}
		program := strings.TrimSpace(a.run(t, env, "", "pkg-config", "--variable=ripc", "ripc"))
		if out := a.run(t, nil, "", program, "version"); !strings.Contains(out, strings.TrimSpace(a.run(t, env, "", "pkg-config", "--modversion", "ripc"))) {
			t.Errorf("%s version: %s", program, out)
		}
	})
	t.Run("cmake", func(t *testing.T) {
		need.App(t, "cmake")
		need.OK(t, func() error { _, err := ripc.LLVM(); return err }())
		build := filepath.Join(dir, "b")
		a.run(t, nil, "", "cmake", "-S", filepath.Join(root, "examples/c-app"), "-B", build, "-DCMAKE_PREFIX_PATH="+dir+"/usr")
		a.run(t, nil, "", "cmake", "--build", build)
	})
}
