package simulate

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ripc/internal/abi"
	"ripc/runtime"
)

// maxOutput bounds what is kept of a process's messages, in bytes.
const maxOutput = 4096

// Run runs the jobs in one simulated process and returns a Result for each. It fails with *RunError if the process
// ends early, *runtime.StatusError (wrapped) if a job returns non-zero, *OverrunError if the artifact wrote outside its
// buffers, and with ctx's error if ctx ends first, which ends the process.
func (m *Machine) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	if err := m.check(jobs); err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	im, err := m.plan(jobs)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(m.opts.TempDir, "ripc-simulate-")
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "image")
	if err := im.write(path); err != nil {
		return nil, err
	}
	counts := filepath.Join(dir, "counts")
	runErr := m.execute(ctx, dir, path, counts)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	defer f.Close()
	if runErr != nil {
		var e *RunError
		if errors.As(runErr, &e) {
			if word, err := read(f, place{at: progressAt, size: 8}); err == nil {
				e.Job = int(binary.LittleEndian.Uint64(word))
			}
		}
		return nil, runErr
	}
	results, err := im.results(f)
	if err != nil {
		return nil, err
	}
	if m.plugin != nil {
		if err := readProfiles(counts, results, m.guest.Base+programAt, m.prog.size); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// execute runs qemu on an image and waits for it. Runner and plugin are written to dir, which is nobody else's, so that
// what runs is what was built, or read from the cache and found whole.
func (m *Machine) execute(ctx context.Context, dir, image, counts string) error {
	args := []string{"-cpu", m.cpu}
	files := map[string][]byte{"runner": m.runner}
	if m.plugin != nil {
		files["count.so"] = m.plugin
		args = append(args, "-plugin", "./count.so")
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o700); err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, m.qemu, append(args, "./runner", image)...)
	cmd.Dir = dir // where a core dump would go
	cmd.WaitDelay = 5 * time.Second
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "QEMU_") { // they would change CPU, plugins and more behind our back
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, countVariable+"="+counts)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: simulation stopped: %w", m.path, ctx.Err())
	}
	text := out.String()
	e := &RunError{Path: m.path, Status: err.Error(), Output: text[:min(len(text), maxOutput)]}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("%s: cannot start %s: %w", m.path, m.qemu, err)
	}
	switch status := exit.String(); {
	case strings.Contains(status, "illegal instruction") || strings.Contains(text, "Illegal instruction"):
		e.Hint = "an instruction that " + m.cpu + " does not have"
	case strings.Contains(status, "segmentation fault") || strings.Contains(text, "Segmentation fault"):
		e.Hint = "an access outside of all buffers, or a write to constants"
	default:
		e.Hint = runnerFault(exit.ExitCode())
	}
	return e
}

// runnerFault explains the runner's own exit codes.
func runnerFault(code int) string {
	switch code {
	case 120:
		return "the runner got no image"
	case 121:
		return "the runner cannot open the image"
	case 122:
		return "the image's header is damaged"
	case 123:
		return "the image's address is taken"
	case 124:
		return "memory cannot be protected"
	case 125:
		return "a thread cannot be started"
	}
	return ""
}

// read returns the bytes at p.
func read(f *os.File, p place) ([]byte, error) {
	data := make([]byte, p.size)
	if _, err := f.ReadAt(data, p.at); err != nil {
		return nil, fmt.Errorf("simulate: cannot read the results: %w", err)
	}
	return data, nil
}

// results reads status, outputs and captures of all jobs, after checking that nothing else was written.
func (im *image) results(f *os.File) ([]Result, error) {
	results := make([]Result, len(im.jobs))
	stack, err := im.stackDepth(f)
	if err != nil {
		return nil, err
	}
	for k, p := range im.jobs {
		status, err := read(f, place{at: p.desc + statusAt, size: 8})
		if err != nil {
			return nil, err
		}
		if code := binary.LittleEndian.Uint32(status[4:]); code != 0 {
			return nil, fmt.Errorf("%s: job %d: %w", im.m.path, k, &runtime.StatusError{Name: im.m.desc.Name, Code: int(int32(code))})
		}
		results[k].StackBytes = stack
	}
	for _, g := range im.guarded {
		guard, err := read(f, place{at: g.at + abi.RoundUp(max(g.size, 1)), size: guardSize})
		if err != nil {
			return nil, err
		}
		if bytes.Count(guard, []byte{guardByte}) != guardSize {
			return nil, &OverrunError{Path: im.m.path, What: g.what}
		}
	}
	for k, p := range im.jobs {
		r := &results[k]
		for _, o := range p.outputs {
			data, err := read(f, o)
			if err != nil {
				return nil, err
			}
			r.Outputs = append(r.Outputs, data)
		}
		for _, c := range p.captured {
			data, err := read(f, c)
			if err != nil {
				return nil, err
			}
			r.Captured = append(r.Captured, data)
		}
		if n := len(r.Captured) - 1; p.keep {
			r.Workspace, r.Captured = r.Captured[n], r.Captured[:n]
		}
	}
	return results, nil
}

// stackDepth returns how many bytes of the deepest stack are not zero any more, or fails if one is full.
func (im *image) stackDepth(f *os.File) (int, error) {
	deepest := 0
	for tid := range im.threads {
		data, err := read(f, place{at: im.stacks + int64(tid)*stackSize, size: stackSize})
		if err != nil {
			return 0, err
		}
		used := len(bytes.TrimLeft(data, "\x00"))
		if used > stackSize-pageSize {
			return 0, &OverrunError{Path: im.m.path, What: fmt.Sprintf("thread %d's stack of %d bytes", tid, stackSize)}
		}
		deepest = max(deepest, used)
	}
	return deepest, nil
}
