package simulate

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"ripc/internal/abi"
	"ripc/internal/files"
	"ripc/internal/human"
	"ripc/runtime"
)

// maxOutput bounds the stored messages of a process, in bytes.
const maxOutput = 4096

// Run runs the jobs in one simulated process and returns a Result for each. It fails with *RunError
// if the process ends early, with *runtime.StatusError (wrapped) if a job returns non-zero, and
// with *OverrunError if the artifact wrote outside its buffers. If ctx ends first, it ends the
// process and fails with ctx's error.
func (m *Machine) Run(ctx context.Context, jobs []Job) ([]Result, error) {
	if err := m.check(jobs); err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, nil
	}
	p, err := m.prepare(ctx, jobs)
	if err != nil {
		return nil, err
	}
	defer p.remove()
	p.cmd.Stdout = &p.messages
	defer p.limit(len(jobs))()
	profiles, err := p.run(len(jobs))
	if err != nil {
		return nil, err
	}
	results, err := p.image.results(p.file)
	if err != nil {
		return nil, err
	}
	if m.opts.Count {
		for k, profile := range profiles {
			results[k].Profile, results[k].Instructions = profile, profile.Instructions()
		}
	}
	return results, nil
}

// run runs the process. If instructions are counted, it returns a profile of each job.
func (p *process) run(jobs int) (profiles []*Profile, err error) {
	at, size := p.m.guest.Base+programAt, p.m.prog.size
	if !p.m.opts.Count || p.m.plugin != nil {
		if err := p.cmd.Run(); err != nil {
			return nil, p.explainError(err)
		}
		if p.m.opts.Count {
			profiles, err = ReadProfiles(p.counts, jobs, at, size)
		}
		return profiles, err
	}
	log, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	defer log.Close()
	p.cmd.ExtraFiles = []*os.File{write}
	err = p.cmd.Start()
	_ = write.Close()
	if err != nil {
		return nil, p.explainError(err)
	}
	profiles, failed := readLog(log, at, size)
	_, _ = io.Copy(io.Discard, log) // or qemu would wait
	if err := p.cmd.Wait(); err != nil {
		return nil, p.explainError(err)
	}
	if failed == nil && len(profiles) != jobs {
		failed = fmt.Errorf("simulate: qemu logged %d of %d jobs", len(profiles), jobs)
	}
	return profiles, failed
}

// process is a batch that is ready to run, is running, or has run.
type process struct {
	m         *Machine
	ctx       context.Context
	stop      context.CancelCauseFunc // ends the process
	image     *image
	dir       string
	removeDir func() error
	counts    string // where the plugin writes
	file      *os.File
	cmd       *exec.Cmd
	messages  bytes.Buffer
}

// prepare lays out a checked batch and the command that runs it. Runner and plugin are written to a
// private folder, so that nobody can replace them before they run.
func (m *Machine) prepare(ctx context.Context, jobs []Job) (*process, error) {
	p := &process{m: m}
	p.ctx, p.stop = context.WithCancelCause(ctx)
	var err error
	if p.image, err = m.plan(jobs); err != nil {
		p.stop(err)
		return nil, err
	}
	if p.dir, p.removeDir, err = files.TempDir(""); err != nil {
		p.stop(err)
		return nil, fmt.Errorf("simulate: %w", err)
	}
	if p.file, err = p.image.write(filepath.Join(p.dir, "image")); err != nil {
		p.remove()
		return nil, err
	}
	p.counts = filepath.Join(p.dir, "counts")
	written := map[string][]byte{"runner": m.runner}
	var command []string
	if m.opts.Direct {
		command = m.opts.Through
	} else {
		command = []string{m.qemu, "-cpu", m.cpu}
	}
	if m.plugin != nil {
		written["count.so"] = m.plugin
		command = append(command, "-plugin", "./count.so")
	} else if m.opts.Count {
		command = append(command, logOptions()...)
	}
	for name, data := range written {
		if err := files.WriteProgram(filepath.Join(p.dir, name), data); err != nil {
			p.remove()
			return nil, fmt.Errorf("simulate: %w", err)
		}
	}
	command = append(command[:len(command):len(command)], "./runner", "image")
	p.cmd = exec.CommandContext(p.ctx, command[0], command[1:]...)
	p.cmd.Dir = p.dir // where a core dump would go
	p.cmd.WaitDelay = 5 * time.Second
	endWithParent(p.cmd)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "QEMU_") { // they would change CPU, plugins and more behind our back
			p.cmd.Env = append(p.cmd.Env, v)
		}
	}
	p.cmd.Env = append(p.cmd.Env, CountVariable+"=counts")
	p.cmd.Stderr = &p.messages
	return p, nil
}

// limit stops the process with a *files.ToolLimitError unless its jobs are done in time. The caller
// calls end when they are.
func (p *process) limit(jobs int) (end func() bool) {
	task := fmt.Sprintf("%s to run %s of %s", filepath.Base(p.cmd.Path), human.Count(jobs, "job"), p.m.path)
	late := files.LimitOf(p.ctx, task, jobs)
	return time.AfterFunc(late.Limit, func() { p.stop(late) }).Stop
}

// remove removes the files, when the process has ended.
func (p *process) remove() {
	p.stop(nil)
	if p.file != nil {
		_ = p.file.Close()
	}
	_ = p.removeDir()
}

// explainError explains an error of the command's.
func (p *process) explainError(err error) error {
	if p.ctx.Err() != nil {
		return fmt.Errorf("%s: stopped: %w", p.m.path, files.Stopped(p.ctx))
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("%s: cannot start %s: %w", p.m.path, p.cmd.Path, err)
	}
	text := p.messages.String()
	switch {
	case strings.Contains(text, "decode_save_opc"):
		return &SimulatorError{p.m.path, fmt.Sprintf("%s %s itself ends at conversions of vectors of floats, in right "+
			"code, too; qemu 10 runs them", filepath.Base(p.m.qemu), ToolVersion(p.ctx, p.m.qemu))}
	case lacksCPU.MatchString(text):
		return &SimulatorError{p.m.qemu, "this qemu has no CPU " + p.m.cpu + "; a later version may have it, such as " +
			"qemu-user of Debian's backports"}
	}
	e := &RunError{Path: p.m.path, Status: err.Error(), Output: text[:min(len(text), maxOutput)]}
	switch status := exit.String(); {
	case strings.Contains(status, "illegal instruction") || strings.Contains(text, "Illegal instruction"):
		e.Hint = "an instruction that " + p.m.cpu + " does not have"
	case strings.Contains(status, "segmentation fault") || strings.Contains(text, "Segmentation fault"):
		e.Hint = "an access outside of all buffers, or a write to constants"
	default:
		e.Hint = runnerFault(exit.ExitCode())
	}
	if word, err := read(p.file, place{offset: progressAt, size: 8}); err == nil {
		e.Job = int(binary.LittleEndian.Uint64(word))
	}
	return e
}

// lacksCPU matches qemu's messages about a CPU that it does not know, or a feature of one.
var lacksCPU = regexp.MustCompile(`(?m)^qemu-\S+: (unable to find CPU model '.*'|` +
	`can't apply global .*: Property '.*' not found)$`)

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
		return "memory cannot be protected, as where the temporary folder is mounted noexec"
	case 125:
		return "a thread cannot be started"
	}
	return ""
}

// read returns the bytes at p.
func read(f *os.File, p place) ([]byte, error) {
	data := make([]byte, p.size)
	if _, err := f.ReadAt(data, p.offset); err != nil {
		return nil, fmt.Errorf("simulate: cannot read the results: %w", err)
	}
	return data, nil
}

// results reads status, outputs and captures of all jobs, after checking that nothing else was
// written.
func (im *image) results(f *os.File) ([]Result, error) {
	results := make([]Result, len(im.jobs))
	stack, err := im.stackDepth(f)
	if err != nil {
		return nil, err
	}
	for k, p := range im.jobs {
		status, err := read(f, place{offset: p.desc + statusAt, size: 8})
		if err != nil {
			return nil, err
		}
		if code := binary.LittleEndian.Uint32(status[4:]); code != 0 {
			return nil, fmt.Errorf("%s: job %d: %w", im.m.path, k,
				&runtime.StatusError{Name: im.m.desc.Name, Code: int(int32(code))})
		}
		results[k].StackBytes = stack
	}
	for _, g := range im.guarded {
		guard, err := read(f, place{offset: g.offset + abi.RoundUp(max(g.size, 1)), size: guardSize})
		if err != nil {
			return nil, err
		}
		if bytes.Count(guard, []byte{guardByte}) != guardSize {
			return nil, &OverrunError{Path: im.m.path, What: g.what}
		}
	}
	for range 2 { // the first time, to know how long reading the clock takes where nothing disturbed it
		for k, p := range im.jobs {
			if p.timing == 0 {
				continue
			}
			times, err := im.times(f, p.timing, Timing{Samples: MaxSamples, Calls: 1})
			if err != nil {
				return nil, err
			}
			results[k].Took, results[k].GHz = time.Duration(times.Samples[0]), times.GHz
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
		for _, c := range p.kept {
			if r.Workspace != nil {
				r.Inputs = append(r.Inputs, r.Workspace)
			}
			if r.Workspace, err = read(f, c); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// stackDepth returns how many bytes of the deepest stack are not zero any more, or fails if one is
// full.
func (im *image) stackDepth(f *os.File) (int, error) {
	deepest := 0
	for tid := range im.threads {
		data, err := read(f, place{offset: im.stacks + int64(tid)*stackSize, size: stackSize})
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
