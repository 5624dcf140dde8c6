package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// tempRun, in the environment, makes this program make a folder in that one, say its name, and wait until it is killed.
const tempRun = "RIPC_TEST_TEMP_RUN"

func TestMain(m *testing.M) {
	if parent := os.Getenv(tempRun); parent != "" {
		dir, _, err := TempDir(parent)
		if err != nil {
			dir = err.Error()
		}
		os.Stdout.WriteString(filepath.Base(dir) + "\n")
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

// TestSweepTemp: folders of killed processes go, when they are old; those of processes that live, and of others, stay.
func TestSweepTemp(t *testing.T) {
	parent := t.TempDir()
	start := func() (name string, kill func()) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), tempRun+"="+parent)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		line := make([]byte, 100)
		n, err := out.Read(line)
		if err != nil {
			t.Fatal(err)
		}
		kill = func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		t.Cleanup(kill)
		return string(line[:n-1]), kill
	}
	killed, kill := start()
	kill()
	alive, _ := start()
	young, kill := start()
	kill()
	other := "ripc-tmp-notes"
	link := "ripc-tmp-0123456789abcdef"
	if err := os.Mkdir(filepath.Join(parent, other), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(parent, link)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{killed, alive} {
		if err := os.WriteFile(filepath.Join(parent, name, "image"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * abandonedAfter)
	for _, name := range []string{killed, alive, other} {
		if err := os.Chtimes(filepath.Join(parent, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	SweepTemp(parent)
	for name, want := range map[string]bool{killed: false, alive: true, young: true, other: true, link: true} {
		if _, err := os.Lstat(filepath.Join(parent, name)); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", name, err == nil, want)
		}
	}
}

func TestTempDir(t *testing.T) {
	parent := t.TempDir()
	dir, remove, err := TempDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	if _, _, err := TempDir(filepath.Join(parent, "none")); err == nil {
		t.Error("a folder in one that is not there")
	}
}
