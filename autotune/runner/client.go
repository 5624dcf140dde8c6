package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"ripc/internal/terminal"
	"ripc/targets"
	"ripc/targets/cpu"
)

// maxSaid bounds the texts of a worker that are shown, in bytes.
const maxSaid = 500

// WorkerError is a worker's own reason why it cannot do its job, and nothing that the candidate
// did.
type WorkerError struct{ Text string }

func (e *WorkerError) Error() string { return "the worker says: " + e.Text }

// client speaks with a worker. It is not for several goroutines at once.
type client struct {
	link   *link
	worker Announcement
}

// newClient reads the worker's Announcement. If it is no worker, the error holds the text before
// that.
func newClient(in io.Reader, out io.Writer) (*client, error) {
	c := &client{link: newLink(in, out)}
	before, err := c.link.skipBanner()
	if err != nil {
		if len(before) > 0 {
			err = fmt.Errorf("%w; it printed %.300q", err, before)
		}
		return nil, err
	}
	f, err := c.link.read(aMessage())
	if err != nil {
		return nil, err
	}
	if f.message.Worker == nil || f.message.Worker.Protocol != Protocol {
		return nil, &MessageError{Msg: "the worker does not speak " + Protocol}
	}
	c.worker = *f.message.Worker
	return c, nil
}

// measure asks for a measurement. Behind an error but *WorkerError, the connection is of no more
// use.
func (c *client) measure(j Job) (Result, error) {
	h, blobs := j.Pack()
	text, err := EncodeHeader(h)
	if err != nil {
		return Result{}, err
	}
	m, err := c.ask(message{Measure: text}, blobs)
	if err != nil {
		return Result{}, err
	}
	if m.Result == nil {
		return Result{}, &MessageError{Msg: "the worker gives no result"}
	}
	r, err := DecodeResult(m.Result)
	if err == nil && r.ID != j.ID {
		err = &MessageError{Msg: "the worker gives the result of another job"}
	}
	return r, err
}

// ask sends a request, and the blobs that the worker needs, and returns its answer.
func (c *client) ask(request message, blobs Blobs) (*message, error) {
	if err := c.link.say(request); err != nil {
		return nil, err
	}
	for sent := false; ; sent = true {
		f, err := c.link.read(aMessage())
		if err != nil {
			return nil, err
		}
		switch m := f.message; {
		case m.Need != nil && sent:
			return nil, &MessageError{Msg: "the worker asks for blobs again instead of an answer"}
		case m.Error != "":
			return nil, &WorkerError{Text: terminal.Cut(m.Error, maxSaid)}
		case m.Need == nil:
			return m, nil
		default:
			if len(removeDuplicates(m.Need)) != len(m.Need) {
				return nil, &MessageError{Msg: "the worker needs a blob twice"}
			}
			for _, hash := range m.Need {
				content, err := blobs.get(hash)
				if err != nil {
					return nil, &MessageError{"the worker needs a blob that is not there", err}
				}
				if err := c.link.write(frameBlob, content); err != nil {
					return nil, err
				}
			}
			if err := c.link.out.Flush(); err != nil {
				return nil, err
			}
		}
	}
}

// Measures reports whether a worker like a can measure code for t.
func (a *Announcement) Measures(t targets.Target) bool {
	if a.Simulates != "" {
		return a.Simulates == t.Name
	}
	return !t.Bare && a.suits(t.Arch, t.Features) == nil
}

// suits fails unless the worker's machine runs code of an architecture with the given features.
func (a *Announcement) suits(arch string, features []string) error {
	if a.Arch != arch {
		return fmt.Errorf("the kernels are for %s, the machine there is %s", arch, a.Arch)
	}
	var missing []string
	for _, f := range features {
		if !slices.Contains(a.Features, f) && !cpu.IsTuning(f) {
			missing = append(missing, f)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the machine there (%s) lacks %v", a.CPU, missing)
	}
	return nil
}

// joinInterrupt is ctx's error if ctx has ended, which may show as any error of a connection; else
// err.
func joinInterrupt(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}
