package runner

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"ripc/internal/lists"
	"ripc/internal/terminal"
)

// Defaults are the Settings that zero values stand for, on real hardware.
func Defaults() Settings {
	return Settings{Threads: 1, Limit: 20 * time.Second, MinRuns: 5, MinTime: 5 * time.Millisecond,
		MaxTime: 300 * time.Millisecond, Interval: 0.02}
}

// fillIn returns s with zero fields replaced by those of d.
func (s Settings) fillIn(d Settings) Settings {
	s.Threads = cmp.Or(s.Threads, d.Threads)
	s.Limit = cmp.Or(s.Limit, d.Limit)
	s.MinRuns = cmp.Or(s.MinRuns, d.MinRuns)
	s.MinTime = cmp.Or(s.MinTime, d.MinTime)
	s.MaxTime = cmp.Or(s.MaxTime, d.MaxTime)
	s.Interval = cmp.Or(s.Interval, d.Interval)
	return s
}

// NewJob makes a Job with its ID.
func NewJob(library []byte, inputs [][]byte, s Settings) Job {
	j := Job{Library: library, Inputs: inputs, Settings: s}
	h, _ := j.Pack()
	j.ID = h.contentID()
	return j
}

// Header is a Job as it travels: in place of its contents, which may be there already, their
// hashes.
type Header struct {
	ID       string   `json:"id"`
	Library  string   `json:"library"`
	Program  string   `json:"program,omitempty"`
	Inputs   []string `json:"inputs"`
	Settings Settings `json:"settings"`
}

// Blobs are contents by their hash (Hash).
type Blobs map[string][]byte

// Hash names content: its SHA-256 in hexadecimal.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Add adds content and returns its hash.
func (b Blobs) Add(content []byte) string {
	h := Hash(content)
	b[h] = content
	return h
}

// Bounds of messages from elsewhere.
const (
	MaxHeader = 1 << 20 // bytes of a Header or a Result
	MaxBlob   = 1 << 28 // bytes of a blob
	maxList   = 256     // inputs and outputs
)

// Pack splits a Job into the part that is sent each time and the blobs that are sent once.
func (j Job) Pack() (Header, Blobs) {
	b := Blobs{}
	h := Header{ID: j.ID, Library: b.Add(j.Library), Settings: j.Settings}
	if j.Program != nil {
		h.Program = b.Add(j.Program)
	}
	for _, in := range j.Inputs {
		h.Inputs = append(h.Inputs, b.Add(in))
	}
	return h, b
}

// Hashes lists the blobs that the Job needs, none twice.
func (h Header) Hashes() []string {
	return removeDuplicates(append([]string{h.Library, h.Program}, h.Inputs...))
}

// removeDuplicates returns the hashes of a list in its order, none twice; "" is none.
func removeDuplicates(list []string) []string {
	var all []string
	seen := map[string]bool{"": true}
	for _, hash := range list {
		if !seen[hash] {
			all, seen[hash] = append(all, hash), true
		}
	}
	return all
}

// Job is the inverse of Pack. get returns a blob by its hash; each blob is checked against its
// hash.
func (h Header) Job(get func(hash string) ([]byte, error)) (Job, error) {
	if h.ID != h.contentID() {
		return Job{}, &MessageError{Msg: "a job's ID is not the hash of its content"}
	}
	j := Job{ID: h.ID, Settings: h.Settings}
	var err error
	blob := func(hash string) []byte {
		if err != nil {
			return nil
		}
		var content []byte
		if content, err = get(hash); err == nil && Hash(content) != hash {
			err = &MessageError{Msg: "blob " + hash + " has other content"}
		}
		return content
	}
	j.Library = blob(h.Library)
	if h.Program != "" {
		j.Program = blob(h.Program)
	}
	for _, in := range h.Inputs {
		j.Inputs = append(j.Inputs, blob(in))
	}
	return j, err
}

// contentID is the ID of the Job: the hash of all that decides on the Result.
func (h Header) contentID() string {
	h.ID, h.Program = "", ""
	text, err := json.Marshal(h)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err)) // strings and numbers
	}
	return Hash(text)
}

// MessageError says that bytes from elsewhere are no message of this protocol.
type MessageError struct {
	Msg string
	Err error
}

func (e *MessageError) Error() string {
	if e.Err != nil {
		return e.Msg + ": " + e.Err.Error()
	}
	return e.Msg
}

// Unwrap gives the cause.
func (e *MessageError) Unwrap() error { return e.Err }

// EncodeHeader and EncodeResult give JSON, which DecodeHeader and DecodeResult read.
func EncodeHeader(h Header) ([]byte, error) { return encode(h, "a job") }

// EncodeResult is like EncodeHeader.
func EncodeResult(r Result) ([]byte, error) { return encode(r, "a result") }

func encode(v any, what string) ([]byte, error) {
	text, err := json.Marshal(v)
	if err == nil && len(text) > MaxHeader {
		err = fmt.Errorf("%d bytes, at most %d are possible", len(text), MaxHeader)
	}
	if err != nil {
		return nil, &MessageError{"cannot send " + what, err}
	}
	return text, nil
}

// DecodeHeader reads a Header, whoever sent it: it fails with *MessageError, or all in it is within
// bounds.
func DecodeHeader(text []byte) (Header, error) {
	var h Header
	if err := decode(text, "a job", &h); err != nil {
		return Header{}, err
	}
	s := h.Settings
	bad := len(h.Inputs) > maxList || h.ID != h.contentID() || s.Threads < 0 || s.Threads > 64 || s.Limit < 0 ||
		s.MinRuns < 0 ||
		s.MinTime < 0 || s.MaxTime < 0 || s.Interval < 0 || s.Best < 0
	if bad || h.Library == "" || !areHashes(h.Hashes()) {
		return Header{}, &MessageError{Msg: "a job that cannot be"}
	}
	return h, nil
}

// DecodeResult reads a Result, whoever sent it: it fails with *MessageError, or all in it is within
// bounds and can be.
func DecodeResult(text []byte) (Result, error) {
	var r Result
	if err := decode(text, "a result", &r); err != nil {
		return Result{}, err
	}
	m := r.Measurement
	bad := !isHash(r.ID) || len(r.Outputs) > 2*maxList || m.Cost < 0 || (m.Failure == nil) != (m.Cost > 0) ||
		m.Failure == nil && len(r.Outputs) == 0
	if bad || !areHashes(r.Outputs) || len(m.Samples) > 0 && slices.Min(m.Samples) < 0 {
		return Result{}, &MessageError{Msg: "a result that cannot be"}
	}
	return r, nil
}

func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

func areHashes(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !isHash(s) })
}

// maxText is how much is kept of a text that comes from elsewhere, in bytes.
const maxText = 4096

// decode reads one JSON value of bounded size; fields that it does not know are of a newer version,
// and refused. Its texts are fit to be shown.
func decode(text []byte, what string, to any) error {
	if len(text) > MaxHeader {
		return &MessageError{Msg: fmt.Sprintf("%s of %d bytes, at most %d are read", what, len(text), MaxHeader)}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return &MessageError{what + " cannot be read", errors.New(terminal.Cut(err.Error(), maxSaid))}
	}
	if _, err := d.Token(); err != io.EOF {
		return &MessageError{Msg: what + " is followed by something else"}
	}
	terminal.CleanAll(to, maxText)
	return nil
}

// hashes are those of outputs, in order.
func hashes(outputs [][]byte) []string { return lists.Map(outputs, Hash) }
