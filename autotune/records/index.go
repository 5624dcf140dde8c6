package records

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"strings"

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
	x, s := &indexer{file: f, shared: map[any]any{}}, &Set{}
	err = eachLine(f, func(n int, at int64, text []byte, whole, last bool) { x.add(s, n, at, text, whole, last) })
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
	if err != nil || shortKey(&whole.Candidate) != r.Candidate.short {
		return Record{}, ErrChanged
	}
	return whole, nil
}

// shortKey is as good as c's Key, and short.
func shortKey(c *Candidate) string {
	return c.Algorithm + "\n" + string(sumOf([]byte(strings.Join(c.Trace, "\n"))))
}

func sumOf(text []byte) []byte {
	sum := sha256.Sum256(text)
	return sum[:]
}

// maxShared bounds the number of different values that records share, so that a file in which all
// differ takes no more memory for them.
const maxShared = 1 << 12

// indexer reads a file for LoadIndex.
type indexer struct {
	file   *os.File
	shared map[any]any // values that many records have
	steps  []byte      // room for the steps of a candidate
}

// add adds line n to s, without its large fields.
func (x *indexer) add(s *Set, n int, at int64, text []byte, whole, last bool) {
	before := len(s.Records)
	if r, ok := x.quick(text); whole && ok {
		s.Records = append(s.Records, r)
	} else {
		s.add(n, text, whole, last)
	}
	for i := range s.Records[before:] {
		r := &s.Records[before+i]
		if c := &r.Candidate; c.short == "" {
			c.short = shortKey(c)
		}
		r.place = place{x.file, at, len(text)}
		r.Candidate.Trace, r.Candidate.Values, r.Result.Samples = nil, nil, nil
		if f := r.Result.Failure; f != nil {
			r.Result.Failure = &Failure{Kind: f.Kind}
		}
		share(x, &r.Workload)
		share(x, &r.Target)
		share(x, &r.Candidate.Algorithm)
		share(x, &r.Candidate.Strategy)
		share(x, &r.Machine)
		share(x, &r.Versions)
	}
}

// share puts an equal value of an earlier record in the place of v, so that both have one memory.
func share[T comparable](x *indexer, v *T) {
	if known, ok := x.shared[*v]; ok {
		*v = known.(T)
	} else if len(x.shared) < maxShared {
		x.shared[*v] = *v
	}
}

// quick is parse of a record without its steps: Candidate.short is set. ok is false if steps have
// to be decoded, or it is none; then parse says why.
func (x *indexer) quick(line []byte) (r Record, ok bool) {
	var v struct {
		Record
		Candidate struct {
			Candidate
			Trace json.RawMessage `json:"trace"`
		} `json:"candidate"`
	}
	v.Candidate.Trace = x.steps[:0]
	if json.Unmarshal(line, &v) != nil || v.Format != Format {
		return r, false
	}
	x.steps = v.Candidate.Trace
	r, r.Candidate = v.Record, v.Candidate.Candidate
	steps, ok := plainSteps(x.steps)
	r.Candidate.short = r.Candidate.Algorithm + "\n" + string(sumOf(steps))
	return r, ok && r.Check() == nil
}

// plainSteps joins the strings of a JSON array by newlines, in its own memory. ok is false if they
// are not plain: not all printable ASCII without escapes.
func plainSteps(array []byte) (steps []byte, ok bool) {
	steps = array[:0]
	isText, isFirst := false, true
	for _, b := range array {
		switch {
		case b == '"':
			if isText = !isText; isText && !isFirst {
				steps = append(steps, '\n')
			}
			isFirst = false
		case isText && b >= ' ' && b <= '~' && b != '\\':
			steps = append(steps, b)
		case isText || !bytes.ContainsRune([]byte("[], \t\r"), rune(b)):
			return nil, false
		}
	}
	return steps, len(array) > 0
}
