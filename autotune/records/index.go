package records

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"

	"ripc/internal/files"
)

// LoadIndex is LoadExisting for who looks at all records and at the steps of few. Large fields stay
// in the file until Record.Complete reads them: steps, values, samples and texts of failures. So a
// file of any size takes little memory.
func LoadIndex(path string) (*Set, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	x := &indexer{file: f}
	s, err := x.read()
	if err == nil {
		err = s.check(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return s, nil // the file is closed when no record needs it any more
}

// place is where a record of an index lies.
type place struct {
	file *os.File // nil of a record that is whole
	at   int64
	size int
}

// ErrChanged says that a file was overwritten since it was read.
var ErrChanged = errors.New("the file of records has changed since it was read")

// Complete returns r with all fields of its line. It fails with ErrChanged, or where the file
// cannot be read.
func (r *Record) Complete() (Record, error) {
	if r.place.file == nil {
		return *r, nil
	}
	line := make([]byte, r.place.size)
	if _, err := r.place.file.ReadAt(line, r.place.at); err != nil {
		return Record{}, err
	}
	whole, _, err := parse(line)
	if err != nil || shortKey(whole.Candidate.Key()) != r.Candidate.short {
		return Record{}, ErrChanged
	}
	return whole, nil
}

// shortKey is a hash of a candidate's Key.
func shortKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return string(sum[:])
}

// maxShared bounds how many different parts of lines are kept decoded, so that a file in which all
// differ takes no more memory for it.
const maxShared = 1 << 12

// indexer reads a file for LoadIndex.
type indexer struct {
	file   *os.File
	shared map[string]any // decoded parts of lines that many lines have, by their text
	key    []byte         // room for a candidate's Key
}

// read is Read of x's file.
func (x *indexer) read() (*Set, error) {
	s := &Set{}
	in := bufio.NewReaderSize(x.file, 256<<10)
	var room []byte
	for n, at := 1, int64(0); ; n++ {
		line, size, whole, err := readLine(in, room[:0])
		if err != nil && err != io.EOF {
			return nil, err
		}
		room = line
		end := err == io.EOF
		if text := bytes.TrimSpace(line); len(text) > 0 || !whole {
			r, ok := Record{}, false
			if whole {
				r, ok = x.quick(text)
			}
			if !ok {
				before := len(s.Records)
				s.add(n, text, whole, end)
				if ok = len(s.Records) > before; ok {
					r, s.Records = s.Records[before], s.Records[:before]
					r.Candidate.short = shortKey(r.Candidate.Key())
				}
			}
			if ok {
				r.place = place{x.file, at + int64(bytes.Index(line, text)), len(text)}
				r.Candidate.Trace, r.Candidate.Values, r.Result.Samples = nil, nil, nil
				if f := r.Result.Failure; f != nil {
					r.Result.Failure = &Failure{Kind: f.Kind}
				}
				s.Records = append(s.Records, r)
			}
		}
		at += size
		if end {
			return s, nil
		}
	}
}

// quick is parse of a line in the form in which ripc writes it, without its steps: Candidate.short
// is set. ok is false if it is not of this form; then parse says what it is.
func (x *indexer) quick(line []byte) (r Record, ok bool) {
	if bytes.IndexByte(line, '\\') >= 0 { // then texts are not what they say
		return Record{}, false
	}
	c := cursor{rest: line, ok: true}
	c.skip(`{"format":"` + Format + `","workload":`)
	workload := c.value()
	c.skip(`,"target":`)
	target := c.text()
	c.skip(`,"candidate":{`)
	var algorithm []byte
	if c.has(`"algorithm":`) {
		c.skip(`"algorithm":`)
		algorithm = c.text()
		c.skip(",")
	}
	c.skip(`"strategy":`)
	strategy := c.text()
	values := []byte("{}")
	if c.has(`,"values":`) {
		c.skip(`,"values":`)
		values = c.value()
	}
	c.skip(`,"trace":[`)
	x.key = append(append(x.key[:0], algorithm...), '\n')
	for n := 0; c.ok && !c.has("]"); n++ {
		if n > 0 {
			c.skip(",")
			x.key = append(x.key, '\n')
		}
		x.key = append(x.key, c.text()...)
	}
	c.skip(`]},"result":`)
	result := c.value()
	c.skip(`,"machine":`)
	machine := c.value()
	c.skip(`,"versions":`)
	versions := c.value()
	c.skip(`,"origin":`)
	origin := c.value()
	c.skip("}")
	if !c.ok || len(c.rest) > 0 {
		return Record{}, false
	}
	r.Format = Format
	sum := sha256.Sum256(x.key)
	r.Candidate.short = string(sum[:])
	ok = share(x, workload, &r.Workload) && share(x, machine, &r.Machine) && share(x, versions, &r.Versions) &&
		share(x, quoted(target, line), &r.Target) && share(x, quoted(strategy, line), &r.Candidate.Strategy) && share(x, values, new(map[string]int)) &&
		(algorithm == nil || share(x, quoted(algorithm, line), &r.Candidate.Algorithm)) &&
		json.Unmarshal(result, &r.Result) == nil && json.Unmarshal(origin, &r.Origin) == nil
	if !ok || r.Check() != nil {
		return Record{}, false
	}
	return r, true
}

// quoted is text, a part of line between quotes, with these.
func quoted(text, line []byte) []byte {
	begin := cap(line) - cap(text)
	return line[begin-1 : begin+len(text)+1]
}

// share decodes text to a value, or takes it from an equal text before.
func share[T any](x *indexer, text []byte, to *T) bool {
	if known, ok := x.shared[string(text)].(T); ok {
		*to = known
		return true
	}
	if json.Unmarshal(text, to) != nil {
		return false
	}
	if x.shared == nil || len(x.shared) >= maxShared {
		x.shared = map[string]any{}
	}
	x.shared[string(text)] = *to
	return true
}

// cursor goes through a line of JSON without escapes. ok is false from the first thing on that it
// does not expect.
type cursor struct {
	rest []byte
	ok   bool
}

// has reports whether s comes next.
func (c *cursor) has(s string) bool {
	return len(c.rest) >= len(s) && string(c.rest[:len(s)]) == s
}

// skip goes behind s, which has to come next.
func (c *cursor) skip(s string) {
	if c.ok = c.ok && c.has(s); c.ok {
		c.rest = c.rest[len(s):]
	}
}

// text goes behind a string and returns its contents.
func (c *cursor) text() []byte {
	if c.skip(`"`); !c.ok {
		return nil
	}
	n := bytes.IndexByte(c.rest, '"')
	if c.ok = n >= 0; !c.ok {
		return nil
	}
	text := c.rest[:n]
	for _, b := range text { // control characters are none of a string, and what is no UTF-8 is read as something else
		if b < ' ' || b > '~' {
			c.ok = false
			return nil
		}
	}
	c.rest = c.rest[n+1:]
	return text
}

// value goes behind an object and returns it; its end is the brace that closes it. Whether it is
// one is to be found out by decoding it.
func (c *cursor) value() []byte {
	all := c.rest
	if c.ok = c.ok && c.has("{"); !c.ok {
		return nil
	}
	for depth, inText, i := 0, false, 0; i < len(all); i++ {
		switch b := all[i]; {
		case b == '"':
			inText = !inText
		case inText:
		case b == '{':
			depth++
		case b == '}':
			if depth--; depth == 0 {
				c.rest = all[i+1:]
				return all[:i+1]
			}
		}
	}
	c.ok = false
	return nil
}
