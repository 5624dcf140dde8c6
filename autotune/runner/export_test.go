package runner

import (
	"io"
	"time"

	"ripc/engine/simulate"
)

// SetPatience changes how long an ssh runner waits for its worker beyond a measurement.
func SetPatience(r Runner, d time.Duration) { r.(*ssh).patience = d }

// WithPatience is o for an ssh runner that waits for d.
func WithPatience(o Options, d time.Duration) Options {
	o.patience = d
	return o
}

// Run asks for a batch of one job whose output has size bytes.
func (c Client) Run(library []byte, size int64) error {
	blobs := Blobs{}
	_, err := c.c.run(&runRequest{Library: blobs.Add(library), Jobs: []simulate.Job{{Threads: 1}}}, blobs, [][]int64{{size}})
	return err
}

// Client is a client of a worker.
type Client struct{ c *client }

// NewClient speaks with a worker by in and out.
func NewClient(in io.Reader, out io.Writer) (Client, error) {
	c, err := newClient(in, out)
	return Client{c}, err
}

// Measure asks for a measurement.
func (c Client) Measure(j Job) (Result, error) { return c.c.measure(j) }

// Worker is what the worker said of itself.
func (c Client) Worker() Announcement { return c.c.worker }

// Store is what a worker keeps.
type Store = store

// NewStore makes a Store.
func NewStore(limit int64) *Store { return newStore(limit) }

// Put and Get are those of a store.
func (s *store) Put(hash string, content []byte)           { s.put(hash, content) }
func (s *store) Get(hash string) (content []byte, ok bool) { return s.get(hash) }

// Frame makes a frame of the protocol.
func Frame(kind byte, content []byte) []byte {
	var b writeBuffer
	l := newLink(nil, &b)
	if err := l.write(kind, content); err != nil {
		panic(err)
	}
	if err := l.out.Flush(); err != nil {
		panic(err)
	}
	return b
}

type writeBuffer []byte

func (b *writeBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// Magic is what a worker begins with.
const Magic = magic
