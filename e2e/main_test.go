package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// TestMain removes the command that tests built. No profile of all places that allocate is kept, which the command does not have either.
func TestMain(m *testing.M) {
	runtime.MemProfileRate = 0
	code := m.Run()
	if err := os.RemoveAll(built.dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// built is the ripc command, which the first test that runs it builds for all of them.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// command gives the path of the ripc command.
func command(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "ripc-e2e-"); built.err != nil {
			return
		}
		if out, err := exec.Command("go", "build", "-o", built.dir, "../cmd/ripc").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("go build: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "ripc")
}
