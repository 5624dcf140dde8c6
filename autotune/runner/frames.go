package runner

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// Protocol names this version of the protocol. A worker speaks first: magic, which nothing that a
// login shell prints holds, and a message with its Announcement. Then it answers requests, one
// after the other:
//
//	measure  need (blobs follow, in that order)  result | error
//	run      need (blobs follow, in that order)  ran (blobs follow) | error
//
// A frame is its kind, a byte; its length, four bytes, big endian; and its content: a message in
// JSON, or a blob.
const (
	Protocol = "ripc.worker/1"
	magic    = "\x00" + Protocol + "\n"
	// maxBanner is how much may come before magic, in bytes.
	maxBanner = 1 << 16
)

const (
	frameMessage = 'J'
	frameBlob    = 'B'
)

// message is one of the protocol; one field is set.
type message struct {
	Worker  *Announcement   `json:"worker,omitempty"`
	Measure json.RawMessage `json:"measure,omitempty"` // a Header
	Run     *runRequest     `json:"run,omitempty"`
	Need    []string        `json:"need,omitempty"`   // hashes
	Result  json.RawMessage `json:"result,omitempty"` // a Result
	Ran     *runAnswer      `json:"ran,omitempty"`
	Error   string          `json:"error,omitempty"` // why the worker cannot do the job
}

// Announcement describes a worker.
type Announcement struct {
	Protocol string   `json:"protocol"`
	Version  string   `json:"version"` // of the worker: its SHA-256
	Arch     string   `json:"arch"`    // as in descriptions
	CPU      string   `json:"cpu"`
	Features []string `json:"features"`
	Memory   int64    `json:"memory"` // bytes; 0 where the system does not say it
	// Simulates is the target that it simulates; "" of a worker that runs its own machine's.
	Simulates string `json:"simulates,omitempty"`
}

// link is one end of a connection.
type link struct {
	in  *bufio.Reader
	out *bufio.Writer
}

func newLink(in io.Reader, out io.Writer) *link {
	return &link{bufio.NewReaderSize(in, 1<<16), bufio.NewWriterSize(out, 1<<16)}
}

// say sends a message, and all frames that were written before.
func (l *link) say(m message) error {
	text, err := encode(m, "a message")
	if err != nil {
		return err
	}
	if err := l.write(frameMessage, text); err != nil {
		return err
	}
	return l.out.Flush()
}

// write writes a frame, to be flushed.
func (l *link) write(kind byte, content []byte) error {
	if int64(len(content)) > MaxBlob {
		return &MessageError{Msg: fmt.Sprintf("%d bytes are to be sent at once, at most %d can be", len(content),
			MaxBlob)}
	}
	if err := l.out.WriteByte(kind); err != nil {
		return err
	}
	if _, err := l.out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(content)))); err != nil {
		return err
	}
	_, err := l.out.Write(content)
	return err
}

// frame is one that was read: a message or a blob.
type frame struct {
	message *message
	blob    []byte
}

// bounds say which frame may come next: the most bytes of a message and of a blob; below 0, none
// was asked for.
type bounds struct{ message, blob int64 }

// aMessage lets a message come, and aBlob a blob of at most size bytes.
func aMessage() bounds        { return bounds{MaxHeader, -1} }
func aBlob(size int64) bounds { return bounds{-1, size} }

// read reads the next frame, whoever sent it. It fails with the error of the connection, io.EOF
// between frames; or with *MessageError, before the content is read, if the frame is not within b,
// or if it cannot be understood.
func (l *link) read(b bounds) (frame, error) {
	kind, err := l.in.ReadByte()
	if err != nil {
		return frame{}, err
	}
	var length [4]byte
	if _, err := io.ReadFull(l.in, length[:]); err != nil {
		return frame{}, io.ErrUnexpectedEOF
	}
	size, most := int64(binary.BigEndian.Uint32(length[:])), int64(-1)
	switch kind {
	case frameMessage:
		most = b.message
	case frameBlob:
		most = b.blob
	}
	if size > most {
		return frame{}, &MessageError{Msg: fmt.Sprintf("a frame of kind %q with %d bytes, which was not asked for",
			kind, size)}
	}
	var content bytes.Buffer // grows with the bytes that come, not with the claimed size
	if _, err := io.CopyN(&content, l.in, size); err != nil {
		return frame{}, io.ErrUnexpectedEOF
	}
	if kind == frameBlob {
		return frame{blob: content.Bytes()}, nil
	}
	f := frame{message: new(message)}
	return f, decode(content.Bytes(), "a message", f.message)
}

// skipBanner reads until behind magic, and returns the text before it.
func (l *link) skipBanner() ([]byte, error) {
	var before []byte
	for len(before) < maxBanner {
		c, err := l.in.ReadByte()
		if err != nil {
			return before, err
		}
		before = append(before, c)
		if bytes.HasSuffix(before, []byte(magic)) {
			return before[:len(before)-len(magic)], nil
		}
	}
	return before, &MessageError{Msg: "the started program is no worker"}
}
