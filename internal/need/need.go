// Package need decides in one place about tests without a tool that they need. The test fails if
// set-up promised the tool (CI, or RIPC_REQUIRE_TOOLS as make test sets it). Otherwise it is
// skipped, with the reason.
package need

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// Promised reports whether set-up put the tools there.
func Promised() bool { return os.Getenv("CI") != "" || os.Getenv("RIPC_REQUIRE_TOOLS") != "" }

// OK returns if err is nil; otherwise the test ends.
func OK(t testing.TB, err error) {
	t.Helper()
	end(t, err, Promised(), "make setup", "")
}

// end ends the test if err is not nil: it fails if set-up promised the tool, which a command
// installs, and is skipped otherwise. optional names the target of make that installs a tool beyond
// make setup's, if it is one.
func end(t testing.TB, err error, promised bool, install, optional string) {
	t.Helper()
	switch {
	case err == nil:
	case promised:
		t.Fatalf("%v (%s installs it)", err, install)
	case optional != "":
		t.Skipf("skipped: %v (make %s installs it)", err, optional)
	default:
		t.Skip("skipped: ", err)
	}
}

// Tool finds a program on PATH; without it the test ends.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	OK(t, err)
	return path
}

// Thorough reports whether a test takes all of its cases: make thorough sets RIPC_THOROUGH. make
// test takes a part of each matrix of models, targets and compilers, so that it ends within ten
// minutes.
func Thorough() bool { return os.Getenv("RIPC_THOROUGH") != "" }

// Takes reports whether case i of a matrix runs: each, or one in n where Thorough does not ask for
// all.
func Takes(i, n int) bool { return i%n == 0 || Thorough() }

// Part returns a function that reports whether test t takes case i of a matrix (Takes). At t's end,
// its log says how many of how many were taken.
func Part(t testing.TB, n int) (takes func(i int) bool) {
	var taken, all atomic.Int64
	t.Cleanup(func() { t.Logf("%d of %d cases; make thorough takes all", taken.Load(), all.Load()) })
	return func(i int) bool {
		all.Add(1)
		if !Takes(i, n) {
			return false
		}
		taken.Add(1)
		return true
	}
}

// All leaves out a test that only make thorough runs.
func All(t testing.TB) {
	t.Helper()
	if !Thorough() {
		t.Skip("skipped: make thorough runs it")
	}
}

// Board is OK for the tools of boards without an operating system, which have a set-up and a
// promise of their own: make mcu sets RIPC_REQUIRE_MCU. Since it runs every test that calls Board,
// make test leaves these out, whether the tools are there or not.
func Board(t testing.TB, err error) {
	t.Helper()
	promised := os.Getenv("RIPC_REQUIRE_MCU") != ""
	switch {
	case promised && err != nil:
		t.Fatal(err)
	case !promised && Promised():
		t.Skip("skipped: make mcu runs it")
	case err != nil:
		t.Skip("skipped: ", err)
	}
}

// Browser finds the browser that pages are opened in, which set-up promises
// (scripts/setup-browser.sh); without it the test ends.
func Browser(t testing.TB) string {
	t.Helper()
	return Tool(t, "chromium")
}

// Git changes to a new folder, and returns a function that runs git there and returns its output.
func Git(t *testing.T) func(args ...string) string {
	t.Helper()
	git := Tool(t, "git")
	t.Chdir(t.TempDir())
	return func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), git,
			append([]string{"-c", "user.name=n", "-c", "user.email=e@e"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
}

// CCompilers are the commands of the C compilers that code in C is tested with.
func CCompilers() []string { return []string{"gcc", "clang"} }

// CCompiler finds one of CCompilers on PATH; without it the test ends. make setup promises gcc
// alone. make c promises them all, and sets RIPC_REQUIRE_C; make test says beforehand which of them
// are missing, since go test shows no reason of a test that was skipped.
func CCompiler(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	promisedC(t, name, err)
	return path
}

// Sanitizers is CCompiler for the libraries behind the compiler's -fsanitize=undefined,address.
func Sanitizers(t testing.TB, name string) {
	t.Helper()
	cmd := exec.Command(CCompiler(t, name), "-fsanitize=undefined,address", "-x", "c", "-o", os.DevNull, "-")
	cmd.Stdin = strings.NewReader("int main(void) { return 0; }\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s -fsanitize=undefined,address: %w\n%.1000s", name, err, out)
	}
	promisedC(t, name, err)
}

func promisedC(t testing.TB, name string, err error) {
	t.Helper()
	if name == "gcc" && !requireC() {
		OK(t, err)
	}
	end(t, err, requireC(), "scripts/setup-c.sh", "c")
}

func requireC() bool { return os.Getenv("RIPC_REQUIRE_C") != "" }

// AllInC reports whether a test of code in C takes all of its compilers and options: make c and
// make thorough ask for that.
func AllInC() bool { return requireC() || Thorough() }

// AllOfC leaves out a test that takes minutes, unless make c runs it.
func AllOfC(t testing.TB) {
	t.Helper()
	if !requireC() {
		t.Skip("skipped: make c runs it")
	}
}

// App finds a program that the examples in C and Python are built with, on PATH; without it the
// test ends. make apps installs and promises it, and sets RIPC_REQUIRE_APPS.
func App(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	promisedApp(t, err)
	return path
}

// AllApps reports whether a test of the examples' programs takes all of its cases: make apps does,
// and make thorough.
func AllApps() bool { return requireApps() || Thorough() }

func requireApps() bool { return os.Getenv("RIPC_REQUIRE_APPS") != "" }

// Packages leaves out a test that builds ripc for other machines or under another path, which takes
// minutes: make packages runs it.
func Packages(t testing.TB) {
	t.Helper()
	if os.Getenv("RIPC_REQUIRE_PACKAGES") == "" {
		t.Skip("skipped: make packages runs it")
	}
}

// Numpy finds a Python that has numpy; without one the test ends, as App does.
func Numpy(t testing.TB) string {
	t.Helper()
	var err error
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		var path string
		if path, err = exec.LookPath(python); err == nil {
			if err = exec.Command(path, "-c", "import numpy").Run(); err == nil {
				return path
			}
			err = fmt.Errorf("%s has no numpy: %w", path, err)
		}
	}
	promisedApp(t, err)
	return ""
}

func promisedApp(t testing.TB, err error) {
	t.Helper()
	end(t, err, requireApps(), "scripts/setup-apps.sh", "apps")
}

// Twin returns the Python for twin/, with PyTorch and the other packages: TWIN_PYTHON names it.
// make twin sets it up and promises it by RIPC_REQUIRE_TWIN. Since that takes gigabytes and trains
// networks, tests of the twin run there alone.
func Twin(t testing.TB) string {
	t.Helper()
	if os.Getenv("RIPC_REQUIRE_TWIN") == "" {
		t.Skip("skipped: make twin runs it")
	}
	python := os.Getenv("TWIN_PYTHON")
	if out, err := exec.Command(python, "-c", "import torch, numpy, sklearn").CombinedOutput(); err != nil {
		t.Fatalf("TWIN_PYTHON=%s: %v (scripts/setup-twin.sh installs it)\n%.1000s", python, err, out)
	}
	return python
}
