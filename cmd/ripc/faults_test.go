package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ripc/caches"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/need"
)

// moments is how often each command is killed; make faults takes more.
var moments = flag.Int("moments", 3, "how many moments of a command faults come at")

// command is one that writes files.
type command struct {
	name  string
	args  []string // %s is the folder of the files
	files []string
}

// writers are commands that write several files each.
func writers(t *testing.T) []command {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	digits := filepath.Join(root, "examples", "digits", "digits.json")
	return []command{
		{"compile", []string{"compile", digits, "-o", "%s/net"}, []string{"net.so", "net.h"}},
		{"import", []string{"import", filepath.Join(root, "testdata", "qonnx", "digits_w1a2.onnx"), "-o", "%s/net.json"}, []string{"net.json", "net.safetensors"}},
		{"run", []string{"run", digits, "--output", "%s"}, []string{"output_0.npy", "outputs.json"}},
	}
}

// place is where a command runs: its folders, and what it is to write.
type place struct {
	command
	out, tmp, cache string
	want            map[string]string // files by name
}

// newPlace runs c once, so that what it writes is known and its kernels are in the cache.
func newPlace(t *testing.T, c command) *place {
	t.Helper()
	_, err := toolchain.Find()
	need.OK(t, err)
	p := &place{command: c, out: t.TempDir(), tmp: t.TempDir(), cache: t.TempDir(), want: map[string]string{}}
	if out, code := p.run(t, nil); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	p.want = p.contents(t, p.out)
	if len(p.want) != len(c.files) {
		t.Fatalf("it wrote %v", slices.Collect(maps.Keys(p.want)))
	}
	return p
}

// contents is what lies in a folder.
func (p *place) contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

// old is what stands in a file before a command writes it.
const old = "old"

// reset makes the folder of files what it was before.
func (p *place) reset(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(p.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(p.out, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range p.files {
		if err := os.WriteFile(filepath.Join(p.out, f), []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// arguments are those of the command for files in dir.
func (p *place) arguments(dir string) []string {
	var args []string
	for _, a := range p.args {
		args = append(args, strings.ReplaceAll(a, "%s", dir))
	}
	return args
}

// cmd is the command, or what before makes of it: a program and its arguments, to which ripc's are appended.
func (p *place) cmd(ctx context.Context, before []string) (*exec.Cmd, *bytes.Buffer) {
	words := append(slices.Clone(before), append([]string{"ripc"}, p.arguments(p.out)...)...)
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Env = append(os.Environ(), "TMPDIR="+p.tmp, caches.Env+"="+p.cache)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	return c, &out
}

// run runs the command to its end, and gives what it printed and its exit code, -1 where a signal ended it.
func (p *place) run(t *testing.T, before []string, env ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c, out := p.cmd(ctx, before)
	c.Env = append(c.Env, env...)
	err := c.Run()
	if ctx.Err() != nil {
		t.Fatalf("it does not end: %s", out)
	}
	if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return out.String(), c.ProcessState.ExitCode()
}

// moments are times in a run of the command, at equal distances.
func (p *place) moments(t *testing.T) []time.Duration {
	t.Helper()
	start := time.Now()
	p.run(t, nil)
	took := time.Since(start)
	var at []time.Duration
	for i := range *moments {
		at = append(at, took*time.Duration(i+1)/time.Duration(*moments+1))
	}
	return at
}

// signalled is run over old files of a command that gets a signal after a while.
func (p *place) signalled(t *testing.T, s syscall.Signal, after time.Duration) (string, int) {
	t.Helper()
	p.reset(t)
	c, out := p.cmd(t.Context(), nil)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = c.Process.Signal(s) // it may have ended
	_ = c.Wait()
	return out.String(), c.ProcessState.ExitCode()
}

// state is "old" or "new" where all files are that, "mixed" where some are old and some new, and an error where one is neither, or is
// no file of the command's.
func (p *place) state(t *testing.T, dir string) (string, error) {
	t.Helper()
	count := map[string]int{}
	for name, data := range p.contents(t, dir) {
		switch want, ok := p.want[name]; {
		case ok && data == want:
			count["new"]++
		case ok && data == old:
			count["old"]++
		default:
			return "", fmt.Errorf("%s has %d bytes", name, len(data))
		}
	}
	for s, n := range count {
		if n == len(p.files) {
			return s, nil
		}
	}
	return "mixed", nil
}

// TestFaultsKilled kills commands: every file is the old or the new one, whole, and the next run makes all of them new.
func TestFaultsKilled(t *testing.T) {
	for _, c := range writers(t) {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, c)
			for _, after := range p.moments(t) {
				p.signalled(t, syscall.SIGKILL, after)
				for name, data := range p.contents(t, p.out) {
					if want, ok := p.want[name]; ok && data != want && data != old {
						t.Errorf("%s has %d bytes", name, len(data))
					}
				}
			}
			p.reset(t)
			if out, code := p.run(t, nil); code != 0 {
				t.Fatalf("afterwards: exit code %d\n%s", code, out)
			}
			if s, err := p.state(t, p.out); s != "new" {
				t.Errorf("afterwards the files are %s, %v", s, err)
			}
		})
	}
}

// TestFaultsEnded ends commands by signals that can be handled: all files are old or all are new, and nothing else is left.
func TestFaultsEnded(t *testing.T) {
	for _, c := range writers(t) {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, c)
			at := p.moments(t)
			for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
				for _, after := range at {
					out, code := p.signalled(t, s, after)
					state, err := p.state(t, p.out)
					if err != nil || code == 0 && state != "new" || state == "mixed" {
						t.Errorf("%v: the files are %s, %v, exit code %d\n%s", s, state, err, code, out)
					}
					if left := p.contents(t, p.tmp); len(left) > 0 {
						t.Errorf("%v left %q", s, slices.Collect(maps.Keys(left)))
					}
				}
			}
		})
	}
}

// small gives the words before a command that has it run with dir on a disk of n KiB, which holds what is in dir, and copies
// what is there at the end to back. The disk goes with the command.
func small(t *testing.T, dir, back string, n int) []string {
	t.Helper()
	if err := exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=8k none "+dir).Run(); err != nil {
		t.Skipf("this machine lets this user mount nothing (unshare -m: %v)", err)
	}
	return []string{"unshare", "-m", "sh", "-c", `
dir=$0 back=$1 size=$2; shift 2
mkdir "$back" && cp -a "$dir/." "$back" && mount -t tmpfs -o size="$size"k none "$dir" && cp -a "$back/." "$dir" || exit 99
"$@"; code=$?
rm -rf "$back"; cp -a "$dir/." "$back"; exit $code`, dir, back, fmt.Sprint(n)}
}

// TestFaultsFullDisk has disks of several sizes for the files: there are all of them, or the old ones, and a message.
func TestFaultsFullDisk(t *testing.T) {
	for _, c := range writers(t) {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, c)
			var total int
			for _, data := range p.want {
				total += len(data) >> 10
			}
			full := 0
			for _, n := range []int{12, max(16, total), max(20, total+4), total + 24, 4*total + 64} {
				p.reset(t)
				back := filepath.Join(t.TempDir(), "back")
				out, code := p.run(t, small(t, p.out, back, n))
				state, err := p.state(t, back)
				if err != nil || code == 0 && state != "new" || code != 0 && (code != 1 || state != "old" || !strings.Contains(out, "no space left")) {
					t.Errorf("%d KiB: the files are %s, %v, exit code %d\n%s", n, state, err, code, out)
				}
				full += code
			}
			if full == 0 && c.name != "run" {
				t.Error("no disk was too small")
			}
		})
	}
}

// TestFaultsLimit is TestFaultsFullDisk by a limit on the size of files, which needs no rights.
func TestFaultsLimit(t *testing.T) {
	p := newPlace(t, writers(t)[1])
	p.reset(t)
	out, code := p.run(t, []string{"sh", "-c", `ulimit -f 4; exec "$@"`, "sh"})
	if s, err := p.state(t, p.out); s != "old" || code != 1 || !strings.Contains(out, "cannot write") {
		t.Errorf("the files are %s, %v, exit code %d\n%s", s, err, code, out)
	}
}

// TestFaultsCache has caches that cannot be used: those of others are refused, and without one all goes on.
func TestFaultsCache(t *testing.T) {
	p := newPlace(t, writers(t)[0])
	goes := func(t *testing.T, before []string) {
		t.Helper()
		p.reset(t)
		out, code := p.run(t, before)
		if s, err := p.state(t, p.out); s != "new" || code != 0 {
			t.Errorf("the files are %s, %v, exit code %d\n%s", s, err, code, out)
		}
	}
	refused := func(t *testing.T, why string) {
		t.Helper()
		p.reset(t)
		out, code := p.run(t, nil)
		if s, err := p.state(t, p.out); s != "old" || code != 1 || !strings.Contains(out, why) {
			t.Errorf("the files are %s, %v, exit code %d\n%s", s, err, code, out)
		}
	}
	fresh := func(t *testing.T) string {
		p.cache = t.TempDir()
		objects := filepath.Join(p.cache, "objects")
		if err := os.Mkdir(objects, 0o700); err != nil {
			t.Fatal(err)
		}
		return objects
	}
	t.Run("file in its place", func(t *testing.T) {
		p.cache = filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(p.cache, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		goes(t, nil)
	})
	t.Run("writable by all", func(t *testing.T) {
		if err := os.Chmod(fresh(t), 0o777); err != nil {
			t.Fatal(err)
		}
		refused(t, "everybody can write to it")
	})
	t.Run("of another user", func(t *testing.T) {
		if err := os.Chown(fresh(t), 65534, 65534); err != nil {
			t.Skip("only root can give folders away")
		}
		refused(t, "it belongs to user 65534")
	})
	t.Run("read-only", func(t *testing.T) {
		objects := fresh(t)
		if os.Getuid() == 0 { // whom modes do not stop
			if err := exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs -o ro,mode=700 none "+objects).Run(); err != nil {
				t.Skipf("this machine mounts nothing for root (unshare -m: %v)", err)
			}
			goes(t, []string{"unshare", "-m", "sh", "-c", `mount -t tmpfs -o ro,mode=700 none "$0"; exec "$@"`, objects})
			return
		}
		if err := os.Chmod(objects, 0o500); err != nil {
			t.Fatal(err)
		}
		goes(t, nil)
	})
	t.Run("full", func(t *testing.T) {
		objects := fresh(t)
		goes(t, small(t, objects, filepath.Join(t.TempDir(), "back"), 8))
	})
}

// TestFaultsTools has tools that are missing, fail, crash or print nonsense: the command fails with a message, and writes nothing.
func TestFaultsTools(t *testing.T) {
	p := newPlace(t, writers(t)[0])
	programs := []string{"opt", "llc", "ld.lld", "llvm-mc", "llvm-ar", "llvm-objcopy"}
	for _, bad := range programs[:3] { // those that make a shared library
		for what, script := range map[string]string{"missing": "", "fails": "echo broken >&2; exit 3", "crashes": "kill -SEGV $$", "prints nonsense": "echo nonsense; exit 0"} {
			t.Run(bad+" "+what, func(t *testing.T) {
				bin := t.TempDir()
				for _, name := range programs {
					at := filepath.Join(bin, name)
					path, err := toolchain.Lookup(name)
					need.OK(t, err)
					if name == bad {
						if script != "" {
							err = os.WriteFile(at, []byte("#!/bin/sh\ncase \"$1\" in --version) exec "+path+" \"$@\";; esac\n"+script+"\n"), 0o700)
						}
					} else {
						err = os.Symlink(path, at)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				p.cache = t.TempDir()
				p.reset(t)
				out, code := p.run(t, nil, toolchain.EnvBin+"="+bin)
				if s, err := p.state(t, p.out); s != "old" || code != 1 || !strings.HasPrefix(out, "ripc: ") || strings.Contains(out, "internal error") {
					t.Errorf("the files are %s, %v, exit code %d\n%s", s, err, code, out)
				}
				// What a tool failed on is kept for who looks into it.
				for name := range p.contents(t, p.tmp) {
					if filepath.Ext(name) != ".ll" {
						t.Errorf("%s was left", name)
					}
				}
			})
		}
	}
}

// TestFaultsOutput closes what results are printed to.
func TestFaultsOutput(t *testing.T) {
	p := newPlace(t, writers(t)[0])
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	c, out := p.cmd(t.Context(), nil)
	c.Stdout = w
	if err := c.Run(); err == nil {
		t.Errorf("it succeeds\n%s", out)
	}
	if s, err := p.state(t, p.out); s != "new" {
		t.Errorf("the files are %s, %v", s, err)
	}
}

// TestFaultsNoexec has a folder for temporary files from which no code may run, as on hardened machines.
func TestFaultsNoexec(t *testing.T) {
	p := newPlace(t, writers(t)[2])
	p.reset(t)
	if err := exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs -o noexec none "+p.tmp).Run(); err != nil {
		t.Skipf("this machine lets this user mount nothing (unshare -m: %v)", err)
	}
	out, code := p.run(t, []string{"unshare", "-m", "sh", "-c", `mount -t tmpfs -o noexec none "$0"; exec "$@"`, p.tmp})
	if s, err := p.state(t, p.out); s != "old" || code != 1 || !strings.Contains(out, "set TMPDIR to another folder") {
		t.Errorf("the files are %s, %v, exit code %d\n%s", s, err, code, out)
	}
	p.args = []string{"verify", p.args[1]}
	out, code = p.run(t, []string{"unshare", "-m", "sh", "-c", `mount -t tmpfs -o noexec none "$0"; exec "$@"`, p.tmp})
	if code != 1 || !strings.Contains(out, "set TMPDIR to another folder") {
		t.Errorf("verify: exit code %d\n%s", code, out)
	}
}
