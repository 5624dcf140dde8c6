package simulate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"
)

// MaxSamples bounds Timing.Samples.
const MaxSamples = 1 << 12

// Timing is the number of runs that time a job.
type Timing struct {
	Samples int           // 1 to MaxSamples
	Calls   int           // in each sample, 1 and more
	Budget  time.Duration // after which no sample begins but the first
}

// Times are the measured times of a job.
type Times struct {
	Samples []float64 // nanoseconds of a call, on the average over those of a sample
	GHz     float64   // clock of the core, directly behind the samples
}

// Process is a started batch. Its last job can be timed, again and again. It must not be used
// concurrently.
type Process struct {
	*process
	in    io.WriteCloser
	out   io.ReadCloser
	ended error // how the process ended before it should
}

// Start runs the jobs, and then repeats the last of them on its own results, in a process that
// waits for more until Finish or the end of ctx. With Options.Direct the process is pinned to one
// core per thread, if the machine has more. Time evicts the caches before each sample by touching
// cold bytes. It fails as Run does.
func (m *Machine) Start(ctx context.Context, jobs []Job, cold int64) (*Process, error) {
	if len(jobs) == 0 || m.opts.Count {
		return nil, fmt.Errorf("%s: %d jobs are to be timed, counting %v", m.path, len(jobs), m.opts.Count)
	}
	if err := m.check(jobs); err != nil {
		return nil, err
	}
	last := jobs[len(jobs)-1]
	again := Job{Continue: true, First: last.First, Last: last.Last, Threads: last.Threads, samples: MaxSamples,
		cold: cold}
	prepared, err := m.prepare(ctx, append(jobs[:len(jobs):len(jobs)], again))
	if err != nil {
		return nil, err
	}
	p := &Process{process: prepared}
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		p.out, err = p.cmd.StdoutPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		err = p.explainError(err)
		p.remove()
		return nil, err
	}
	if m.opts.Direct {
		settle(p.cmd.Process.Pid, last.Threads)
	}
	if err := p.wait(); err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

// wait returns when the process has finished its current work.
func (p *Process) wait() error {
	defer p.limit(len(p.image.jobs))()
	var word [8]byte
	_, err := io.ReadFull(p.out, word[:])
	if err == nil {
		return nil
	}
	_ = p.in.Close()
	if end := p.cmd.Wait(); end != nil {
		err = end
	}
	p.ended = p.explainError(err)
	return p.ended
}

// Time runs the last job as t says. It fails as Run does, and then the process has ended.
func (p *Process) Time(t Timing) (Times, error) {
	if t.Samples < 1 || t.Samples > MaxSamples || t.Calls < 1 || t.Calls > math.MaxInt32 {
		return Times{}, fmt.Errorf("%s: %d samples of %d calls", p.m.path, t.Samples, t.Calls)
	}
	if p.ended != nil {
		return Times{}, p.ended
	}
	last := len(p.image.jobs) - 1
	at := p.image.jobs[last].timing
	start := timingStart(t)
	if _, err := p.file.WriteAt(start[:24], at); err != nil { // all later fields stay the same
		return Times{}, fmt.Errorf("simulate: %w", err)
	}
	if _, err := p.file.WriteAt(start[40:], at+40); err != nil {
		return Times{}, fmt.Errorf("simulate: %w", err)
	}
	// A process that has ended is found out by wait.
	_, _ = p.in.Write(binary.LittleEndian.AppendUint64(nil, uint64(last)))
	if err := p.wait(); err != nil {
		return Times{}, err
	}
	return p.image.times(p.file, at, t)
}

// times reads the times of timing t at an offset. It subtracts the least known time of reading the
// clock.
func (im *image) times(f *os.File, at int64, t Timing) (Times, error) {
	head, err := read(f, place{offset: at, size: samplesAt})
	if err != nil {
		return Times{}, err
	}
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(head[at:]) }
	taken, chain, clock := word(40), word(48), word(72)
	if taken == 0 || taken > uint64(t.Samples) {
		return Times{}, &OverrunError{Path: im.m.path, What: "all its buffers, over the measured times"}
	}
	data, err := read(f, place{offset: at + samplesAt, size: int64(8 * taken)})
	if err != nil {
		return Times{}, err
	}
	im.clock = min(im.clock, clock)
	times := Times{GHz: chainSteps / float64(max(1, chain-min(chain, im.clock)))}
	for ; len(data) > 0; data = data[8:] {
		ns := binary.LittleEndian.Uint64(data)
		// nothing takes no time
		times.Samples = append(times.Samples, float64(max(1, ns-min(ns, im.clock)))/float64(t.Calls))
	}
	return times, nil
}

// Finish ends the process and returns the results of the jobs, and last the result of the timed
// calls. It fails as Run does.
func (p *Process) Finish() ([]Result, error) {
	defer p.remove()
	if p.ended != nil {
		return nil, p.ended
	}
	_ = p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		return nil, p.explainError(err)
	}
	p.ended = errors.New("the process has ended")
	p.image.jobs[len(p.image.jobs)-1].timing = 0 // Time has said it
	return p.image.results(p.file)
}

// timingStart is how a job's timing begins in an image, up to the samples.
func timingStart(t Timing) []byte {
	b := make([]byte, 80)
	binary.LittleEndian.PutUint64(b, uint64(t.Samples))
	binary.LittleEndian.PutUint64(b[8:], uint64(t.Calls))
	binary.LittleEndian.PutUint64(b[16:], uint64(max(1, t.Budget)))
	binary.LittleEndian.PutUint32(b[72:], math.MaxInt32)
	return b
}
