// Package need says in one place what a test does without a tool that it wants: it fails where set-up promised the tool
// (CI, or RIPC_REQUIRE_TOOLS as make test sets it), and is skipped, with the reason, elsewhere.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Promised reports whether set-up put the tools there.
func Promised() bool { return os.Getenv("CI") != "" || os.Getenv("RIPC_REQUIRE_TOOLS") != "" }

// OK returns if err is nil; otherwise the test ends.
func OK(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case Promised():
		t.Fatalf("%v (make setup installs it)", err)
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

// Board is OK for the tools of boards without an operating system, which have a set-up and a promise of their own: make mcu
// sets RIPC_REQUIRE_MCU. Since it runs every test that calls Board, make test leaves these out, whether the tools are there
// or not.
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
