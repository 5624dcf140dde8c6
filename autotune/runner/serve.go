package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Native is the Runner of a worker on the machine that it measures: for whatever target its code is, as long as this machine has
// what it needs.
func Native(o Options) Runner { return newNative(o.Through) }

// Announce is what a worker says of itself that lets r measure.
func Announce(r Runner) Announcement {
	a := Announcement{Protocol: Protocol, Version: ownHash(), Arch: runtime.HostArch(), CPU: r.Machine().CPU, Features: runtime.HostFeatures(), Memory: measure.Memory()}
	if q, ok := r.(*simulated); ok && q.unit == records.Cycles {
		a.Simulates = q.target
	}
	return a
}

// ownHash is the SHA-256 of this program, "" if it cannot be read.
func ownHash() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Serve is a worker: it says who it is and lets r measure what comes in until that ends, which ends what is being measured, too.
// It fails with *MessageError if what comes in is not of this protocol, with ctx's error, or with that of the connection.
func Serve(ctx context.Context, r Runner, me Announcement, in io.Reader, out io.Writer) error {
	files.SweepTemp("")
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{link: newLink(in, out), runner: r, blobs: newStore(storeLimit()), grants: make(chan bounds), frames: make(chan frame)}
	if _, err := s.link.out.WriteString(magic); err != nil {
		return err
	}
	if err := s.link.say(message{Worker: &me}); err != nil {
		return err
	}
	broken := make(chan error, 1)
	go func() {
		defer close(s.frames)
		defer cancel()
		for {
			// The head at any time, so that the end of the connection shows; the content when the server says what it asked for.
			h, err := s.link.head()
			var b bounds
			if err == nil {
				select {
				case b = <-s.grants:
				case <-ctx.Done():
					err = ctx.Err()
				}
			}
			var f frame
			if err == nil {
				f, err = s.link.content(h, b)
			}
			if err != nil {
				broken <- err
				return
			}
			select {
			case s.frames <- f:
			case <-ctx.Done():
				broken <- ctx.Err()
				return
			}
		}
	}()
	err := s.serve(ctx)
	if refused := (*MessageError)(nil); errors.As(err, &refused) {
		return err
	}
	select {
	case cause := <-broken: // rather than what it led to
		if errors.Is(cause, io.EOF) {
			return nil
		}
		return cause
	default:
		return err
	}
}

// server is one connection of a worker.
type server struct {
	link   *link
	runner Runner
	blobs  *store
	grants chan bounds // what the next frame may be
	frames chan frame
}

// serve answers until the frames end. It waits for requests without a deadline: whoever asks has the time that it wants, and the end
// of the connection ends it.
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
	select {
	case s.grants <- b:
	case <-ctx.Done():
		return frame{}, ctx.Err()
	}
	select {
	case f, ok := <-s.frames:
		if !ok {
			return frame{}, io.EOF
		}
		return f, nil
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
