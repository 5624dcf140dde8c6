package records

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"ripc/internal/files"
)

// Set is the contents of files of records.
type Set struct {
	Records []Record // in the order of the file
	// Foreign are lines in formats of other versions of ripc. They are kept and not understood.
	Foreign []Foreign
	// Damaged are lines that are no records.
	Damaged []Damaged
}

// Foreign is a line in the format of another version.
type Foreign struct {
	Line   int // from 1
	Format string
	Text   []byte // without the line's end
}

// Damaged is a line that is no record.
type Damaged struct {
	Line int // from 1
	// Torn says that it is the last one, has no end, and begins as a record does. A killed tuner
	// left it, or one is writing it right now. The next Append cuts it off.
	Torn bool
	// Stranger says that it does not begin as a record does: text that no tuner wrote.
	Stranger bool
	Err      error
}

// MaxLine is how many bytes a line may have: 4 MiB.
const MaxLine = 4 << 20

// formats is the common beginning of the formats of all versions, and beginning that of their
// lines.
const (
	formats   = "ripc.record/"
	beginning = `{"format":"` + formats
)

// begins reports whether a line begins as a record of any version, or is the record of another
// writer, who may put blanks into it.
func begins(line []byte) bool {
	if bytes.HasPrefix(line, []byte(beginning)) {
		return true
	}
	_, _, err := parse(line)
	return err == nil
}

// Load is LoadExisting of a tuner's file: one that is not there yet is one without records.
func Load(path string) (*Set, error) {
	s, err := LoadExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Set{}, nil
	}
	return s, err
}

// LoadExisting reads a file. Damaged lines are listed in the Set and are no error. It fails with
// *NotRecordsError if no line begins as a record does, with files.ErrNotRegular for pipes and
// devices, which may never end, and as files.Open does.
func LoadExisting(path string) (*Set, error) { return load(path, (*Set).check) }

// load reads a file unless check refuses its contents.
func load(path string, check func(s *Set, f *os.File) error) (*Set, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := Read(f)
	if err == nil {
		err = check(s, f)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// check fails with *NotRecordsError if s, the contents of f, is lines that do not begin as records
// do, and nothing else.
func (s *Set) check(f *os.File) error {
	if len(s.Records)+len(s.Foreign) > 0 || len(s.Damaged) == 0 {
		return nil
	}
	for _, d := range s.Damaged {
		if !d.Stranger {
			return nil
		}
	}
	head := make([]byte, files.HeadSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	return &NotRecordsError{Line: s.Damaged[0].Line, Kind: files.Kind(f.Name(), head[:n])}
}

// Read reads lines up to the end. It fails only where r does.
func Read(r io.Reader) (*Set, error) {
	s, steps := &Set{}, map[string]string{}
	in := bufio.NewReaderSize(r, 256<<10)
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			s.add(n, text, err == io.EOF, steps)
		}
		if err == io.EOF {
			return s, nil
		}
	}
}

// add puts line n where it belongs. isLast is whether it has no end. Equal steps of schedules,
// which most of a file is, are kept once.
func (s *Set) add(n int, text []byte, isLast bool, steps map[string]string) {
	rec, foreign, err := parse(text)
	if len(text) > MaxLine {
		err = fmt.Errorf("has more than %d bytes", MaxLine)
	}
	switch {
	case err != nil:
		k := min(len(text), len(beginning))
		like := string(text[:k]) == beginning[:k] && (isLast || k == len(beginning))
		s.Damaged = append(s.Damaged, Damaged{Line: n, Torn: isLast && like, Stranger: !like, Err: err})
	case foreign != "":
		s.Foreign = append(s.Foreign, Foreign{Line: n, Format: foreign, Text: text})
	default:
		for i, step := range rec.Candidate.Trace {
			if known, ok := steps[step]; ok {
				rec.Candidate.Trace[i] = known
			} else {
				steps[step] = step
			}
		}
		s.Records = append(s.Records, rec)
	}
}

// parse reads one line: a record of this format, or the name of another version's.
func parse(text []byte) (rec Record, foreign string, err error) {
	if bytes.HasPrefix(text, []byte(`{"format":"`+Format+`"`)) && json.Unmarshal(text, &rec) == nil &&
		rec.Format == Format && rec.Check() == nil {
		return rec, "", nil
	}
	rec = Record{}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return rec, "", notRecord(err)
	}
	switch {
	case head.Format == Format:
	case strings.HasPrefix(head.Format, formats):
		return rec, head.Format, nil
	default:
		return rec, "", &FieldError{"format", fmt.Sprintf("%q is none of ripc's", head.Format)}
	}
	if err := json.Unmarshal(text, &rec); err != nil {
		return Record{}, "", notRecord(err)
	}
	if err := rec.Check(); err != nil {
		return Record{}, "", err
	}
	return rec, "", nil
}

// notRecord says in plain words why encoding/json refuses a line.
func notRecord(err error) error {
	wrong := (*json.UnmarshalTypeError)(nil)
	switch {
	case !errors.As(err, &wrong):
		return fmt.Errorf("is no JSON object: %w", err)
	case wrong.Field == "":
		return errors.New("is no JSON object")
	}
	article := "a "
	if strings.ContainsAny(wrong.Value[:1], "ao") { // array, object
		article = "an "
	}
	return &FieldError{wrong.Field, "cannot be " + article + wrong.Value}
}

// line is r as it stands in files, with the line's end: the same record always gives the same
// bytes.
func (r *Record) line() ([]byte, error) {
	c := *r
	c.Format = Format
	if c.Candidate.Trace == nil {
		c.Candidate.Trace = []string{}
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(&c); err != nil {
		return nil, err
	}
	if b.Len() > MaxLine {
		return nil, fmt.Errorf("the record has %d bytes, more than %d", b.Len(), MaxLine)
	}
	return b.Bytes(), nil
}

// Write writes s: first the records, then foreign lines. Damaged lines are left out.
func (s *Set) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i := range s.Records {
		line, err := s.Records[i].line()
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		b.Write(line) // keeps its error for Flush
	}
	for _, f := range s.Foreign {
		b.Write(f.Text)
		b.WriteByte('\n')
	}
	return b.Flush()
}
