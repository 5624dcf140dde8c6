package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"ripc/autotune/records"
	"ripc/internal/files"
	"ripc/measure"
	"ripc/runtime"
)

// Native is the Runner of a worker on the machine that it measures: for any target, as long as this
// machine has its features.
func Native(o Options) Runner { return newNative(o.Through) }

// Announce describes a worker that lets r measure.
func Announce(r Runner) Announcement {
	a := Announcement{Protocol: Protocol, Version: ownHash(), Arch: runtime.HostArch(), CPU: r.Machine().CPU,
		Features: runtime.HostFeatures(), Memory: measure.Memory()}
	if q, ok := r.(*simulated); ok && q.unit == records.Cycles {
		a.Simulates = q.target
	}
	return a
}

// ownHash is the SHA-256 of this program, "" if it cannot be read.
func ownHash() string {
	if path, err := os.Executable(); err == nil {
		if program, err := os.ReadFile(path); err == nil {
			return Hash(program)
		}
	}
	return ""
}

// Serve is a worker: it announces itself and lets r measure the jobs that come in until they end,
// which ends the measurement under way, too. It fails with *MessageError if the bytes are not of
// this protocol, with ctx's error, or with that of the connection.
func Serve(ctx context.Context, r Runner, me Announcement, in io.Reader, out io.Writer) error {
	files.SweepTemp("")
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s := &server{link: newLink(in, out), runner: r, blobs: newStore(storeLimit()), end: end}
	if _, err := s.link.out.WriteString(magic); err != nil {
		return err
	}
	if err := s.link.say(message{Worker: &me}); err != nil {
		return err
	}
	err := s.serve(ctx)
	if refused := (*MessageError)(nil); !errors.As(err, &refused) && ctx.Err() != nil {
		err = context.Cause(ctx) // rather than its consequence
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// server is one connection of a worker.
type server struct {
	link    *link
	runner  Runner
	blobs   *store
	end     context.CancelCauseFunc
	watched chan struct{} // closed when watch ended; nil before the first one
}

// watch ends the work under way when the connection ends, until the next frame begins.
func (s *server) watch() {
	done := make(chan struct{})
	s.watched = done
	go func() {
		defer close(done)
		if _, err := s.link.in.Peek(1); err != nil {
			s.end(err)
		}
	}()
}

// serve answers until the frames end. It waits for requests without a deadline: whoever asks has
// the time that it wants, and the end of the connection ends it.
func (s *server) serve(ctx context.Context) error {
	for {
		f, err := s.next(ctx, aMessage())
		if err != nil {
			return err
		}
		switch m := f.message; {
		case m.Measure != nil:
			err = s.measure(ctx, m.Measure)
		case m.Run != nil:
			err = s.run(ctx, m.Run)
		default:
			return &MessageError{Msg: "a message that asks for nothing"}
		}
		if err != nil {
			return err
		}
	}
}

// next is the next frame, which has to be within b.
func (s *server) next(ctx context.Context, b bounds) (frame, error) {
	type read struct {
		frame frame
		err   error
	}
	done := make(chan read, 1)
	go func() {
		if s.watched != nil {
			<-s.watched
		}
		f, err := s.link.read(b)
		done <- read{f, err}
	}()
	select {
	case r := <-done:
		return r.frame, r.err
	case <-ctx.Done():
		return frame{}, ctx.Err()
	}
}

// measure answers a request to measure.
func (s *server) measure(ctx context.Context, text []byte) error {
	h, err := DecodeHeader(text)
	if err != nil {
		return err
	}
	content, err := s.fetch(ctx, h.Hashes())
	if err != nil {
		return err
	}
	j, err := h.Job(content.get)
	if err != nil {
		return err
	}
	s.watch()
	result, err := s.runner.Measure(ctx, j)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return s.link.say(message{Error: err.Error()})
	}
	answer, err := EncodeResult(result)
	if err != nil {
		return err
	}
	return s.link.say(message{Result: answer})
}

// blobTime is how long a worker waits for a blob that it asked for: MaxBlob bytes over a slow line.
const blobTime = 10 * time.Minute

// fetch returns the blobs with the given hashes, and asks for those that are not here.
func (s *server) fetch(ctx context.Context, hashes []string) (Blobs, error) {
	all := Blobs{}
	var missing []string
	for _, h := range hashes {
		if content, ok := s.blobs.get(h); ok {
			all[h] = content
		} else {
			missing = append(missing, h)
		}
	}
	if len(missing) == 0 {
		return all, nil
	}
	if err := s.link.say(message{Need: missing}); err != nil {
		return nil, err
	}
	for _, h := range missing {
		limited, cancel := context.WithTimeout(ctx, blobTime)
		f, err := s.next(limited, aBlob(MaxBlob))
		cancel()
		if err != nil && ctx.Err() == nil && limited.Err() != nil {
			return nil, &MessageError{Msg: fmt.Sprintf("blob %s was asked for and did not come within %v", h, blobTime)}
		}
		if err != nil {
			return nil, err
		}
		if Hash(f.blob) != h {
			return nil, &MessageError{Msg: "blob " + h + " was asked for, and something else was sent"}
		}
		all[h] = f.blob
		s.blobs.put(h, f.blob)
	}
	return all, nil
}

// get returns a blob by its hash.
func (b Blobs) get(hash string) ([]byte, error) {
	content, ok := b[hash]
	if !ok {
		return nil, fmt.Errorf("no blob %s", hash)
	}
	return content, nil
}
