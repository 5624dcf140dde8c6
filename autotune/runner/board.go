package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"ripc/engine/simulate"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// Board is a machine on which one artifact runs (engine.Far).
type Board struct {
	ssh     *ssh
	desc    *describe.Artifact
	library []byte
}

// Reach makes the machine called name, ssh:USER@HOST, ready to run the artifact at path. It fails
// with *NameError, as runtime.ReadDescription, or with *LostError.
func Reach(ctx context.Context, name, path string, o Options) (*Board, error) {
	address, err := sshAddress(name)
	if err != nil {
		return nil, err
	}
	b := new(Board)
	if b.desc, err = runtime.ReadDescription(path); err != nil {
		return nil, err
	}
	if b.library, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	if b.ssh, err = newSSH(ctx, name, address, b.desc.Arch, b.desc.Features, o); err != nil {
		return nil, &LostError{Runner: name, Err: err}
	}
	return b, nil
}

// Description returns the artifact's description.
func (b *Board) Description() *describe.Artifact { return b.desc }

// Close ends the worker there.
func (b *Board) Close() error { return b.ssh.Close() }

// runLimit is the limit of a batch without a deadline.
const runLimit = 10 * time.Minute

// Run runs the jobs there, as simulate.Machine.Run does here; it may fail with *LostError, too.
func (b *Board) Run(ctx context.Context, jobs []simulate.Job) ([]simulate.Result, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	blobs := Blobs{}
	request := &runRequest{Library: blobs.Add(b.library), Program: blobs.Add(b.ssh.program)}
	for _, j := range jobs {
		request.Jobs = append(request.Jobs, replaceContents(j, func(content []byte) []byte {
			return []byte(blobs.Add(content))
		}))
	}
	limit := runLimit
	if end, ok := ctx.Deadline(); ok {
		limit = time.Until(end)
	}
	var results []simulate.Result
	err := b.ssh.with(ctx, limit, func(c *client) (err error) {
		results, err = c.run(request, blobs, b.sizes(request))
		return err
	})
	if fault := (blame{}); errors.As(err, &fault) {
		return nil, fault.error
	}
	return results, err
}

// runRequest asks for a batch of jobs with hashes in place of contents.
type runRequest struct {
	Library string         `json:"library"`
	Program string         `json:"program"`
	Jobs    []simulate.Job `json:"jobs"`
}

// replaceContents returns j with inputs, outputs and workspace by f.
func replaceContents(j simulate.Job, f func([]byte) []byte) simulate.Job {
	each := func(all [][]byte) (out [][]byte) {
		for _, content := range all {
			out = append(out, f(content))
		}
		return out
	}
	j.Inputs, j.Outputs = each(j.Inputs), each(j.Outputs)
	if j.Workspace != nil {
		j.Workspace = f(j.Workspace)
	}
	return j
}

// hashes lists the blobs that the batch needs, none twice.
func (r *runRequest) hashes() []string {
	all := []string{r.Library, r.Program}
	for _, j := range r.Jobs {
		replaceContents(j, func(hash []byte) []byte { all = append(all, string(hash)); return nil })
	}
	return removeDuplicates(all)
}

// runAnswer is the result of a batch. Behind it, the contents follow: of each result the outputs,
// then the workspace.
type runAnswer struct {
	Results []timing `json:"results,omitempty"`
	// Errors that are the artifact's fault.
	Died    *simulate.RunError     `json:"died,omitempty"`
	Overran *simulate.OverrunError `json:"overran,omitempty"`
	Status  *runtime.StatusError   `json:"status,omitempty"`
}

type timing struct {
	Took time.Duration `json:"took,omitempty"`
	GHz  float64       `json:"ghz,omitempty"`
}

// blame is an error that is the artifact's fault: the connection works.
type blame struct{ error }

// run answers a request to run.
func (s *server) run(ctx context.Context, r *runRequest) error {
	hashes := r.hashes()
	if !areHashes(hashes) {
		return &MessageError{Msg: "a batch that cannot be"}
	}
	content, err := s.fetch(ctx, hashes)
	if err != nil {
		return err
	}
	s.watch()
	results, err := s.batch(ctx, r, content)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	answer := &runAnswer{}
	switch {
	case err == nil:
	case errors.As(err, &answer.Died), errors.As(err, &answer.Overran), errors.As(err, &answer.Status):
	default:
		return s.link.say(message{Error: err.Error()})
	}
	var blobs [][]byte
	for _, res := range results {
		answer.Results = append(answer.Results, timing{res.Took, res.GHz})
		blobs = append(blobs, res.Outputs...)
		if res.Workspace != nil {
			blobs = append(blobs, res.Workspace)
		}
	}
	if err := s.link.say(message{Ran: answer}); err != nil {
		return err
	}
	for _, b := range blobs {
		if err := s.link.write(frameBlob, b); err != nil {
			return err
		}
	}
	return s.link.out.Flush()
}

// batch runs a batch.
func (s *server) batch(ctx context.Context, r *runRequest, content Blobs) ([]simulate.Result, error) {
	n, ok := s.runner.(*native)
	if !ok {
		return nil, errors.New("this worker measures and does not run")
	}
	if err := n.turn.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer n.turn.Release(1)
	m, err := n.library(content[r.Library], content[r.Program])
	if err != nil {
		return nil, err
	}
	var jobs []simulate.Job
	for _, j := range r.Jobs {
		jobs = append(jobs, replaceContents(j, func(hash []byte) []byte { return content[string(hash)] }))
	}
	return m.Run(ctx, jobs)
}

// sizes returns the sizes of the blobs that each job of a batch leaves, in bytes: its outputs, and
// then its workspace.
func (b *Board) sizes(r *runRequest) [][]int64 {
	var all [][]int64
	for _, j := range r.Jobs {
		var sizes []int64
		if !j.Discard {
			for _, t := range b.desc.Outputs {
				n, _ := runtime.TensorBytes(t) // ReadDescription has checked it
				sizes = append(sizes, int64(n))
			}
		}
		if j.Keep {
			sizes = append(sizes, b.desc.WorkspaceBytes(j.Threads))
		}
		all = append(all, sizes)
	}
	return all
}

// run asks for a batch. Its jobs leave blobs of the given sizes. Behind an error but *WorkerError
// and blame, the connection is of no more use.
func (c *client) run(r *runRequest, blobs Blobs, sizes [][]int64) ([]simulate.Result, error) {
	m, err := c.ask(message{Run: r}, blobs)
	if err != nil {
		return nil, err
	}
	switch a := m.Ran; {
	case a == nil:
		return nil, &MessageError{Msg: "the worker does not say how the batch ended"}
	case a.Died != nil:
		return nil, blame{a.Died}
	case a.Overran != nil:
		return nil, blame{a.Overran}
	case a.Status != nil:
		return nil, blame{a.Status}
	case len(a.Results) != len(r.Jobs):
		return nil, &MessageError{Msg: fmt.Sprintf("the worker gives %d results of %d jobs", len(a.Results),
			len(r.Jobs))}
	}
	var all []simulate.Result
	for k, a := range m.Ran.Results {
		res := simulate.Result{Took: a.Took, GHz: a.GHz}
		for i, size := range sizes[k] {
			f, err := c.link.read(aBlob(size))
			if err == nil && int64(len(f.blob)) != size {
				err = &MessageError{Msg: fmt.Sprintf("the worker gives %d bytes in the place of %d", len(f.blob), size)}
			}
			switch {
			case err != nil:
				return nil, err
			case r.Jobs[k].Keep && i == len(sizes[k])-1:
				res.Workspace = f.blob
			default:
				res.Outputs = append(res.Outputs, f.blob)
			}
		}
		all = append(all, res)
	}
	return all, nil
}
