package records_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc/autotune/records"
	"ripc/internal/files"
)

// strangers are files that no tuner wrote, and the first line that says so.
func strangers(t *testing.T) map[string]struct {
	text string
	line int
} {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	good := text(t, set(sample(0, 100)))
	return map[string]struct {
		text string
		line int
	}{
		"a model on one line":        {`{"format": "ripc.model/1", "name": "net", "nodes": []}`, 1},
		"a model on a line":          {`{"format":"ripc.model/1","name":"net","nodes":[]}` + "\n", 1},
		"a model on lines":           {"{\n  \"format\": \"ripc.model/1\"\n}\n", 1},
		"notes":                      {"first\nlast", 1},
		"blanks and notes":           {"\n\n  \nnotes", 4},
		"a word":                     {"x", 1},
		"a program":                  {string(program[:min(len(program), 5<<20)]), 1},
		"zeros":                      {strings.Repeat("\x00", 5000), 1},
		"a long line":                {strings.Repeat("x", records.MaxLine+5), 1},
		"a record and notes":         {good + "notes", 2},
		"a record and zeros":         {good + "\x00\x00", 2},
		"a record and a long line":   {good + strings.Repeat("x", records.MaxLine+5), 2},
		"notes and a record":         {"notes\n" + good, 1},
		"a record of another format": {good + good + `{"format":"ripc.model/1"`, 3},
	}
}

// TestStrangers: no command that writes records touches a file that holds something else.
func TestStrangers(t *testing.T) {
	for name, c := range strangers(t) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		same := func(s *records.Set) (*records.Set, error) { return s.Prune(1), nil }
		for verb, write := range map[string]func() error{
			"append": func() error {
				f, err := records.Open(path)
				if err == nil {
					f.Close()
				}
				return err
			},
			"rewrite": func() error { return records.Rewrite(path, same) },
			"write":   func() error { return records.WriteFile(path, set(sample(0, 1))) },
		} {
			var no *records.NotRecordsError
			if err := write(); !errors.As(err, &no) || no.Line != c.line {
				t.Errorf("%s, %s: %v, want line %d to be no record", name, verb, err, c.line)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.text {
			t.Errorf("%s: it is changed, %v", name, err)
		}
	}
}

// TestStrangeMeanwhile: what gets strange while a tuner has it open is not written to, either.
func TestStrangeMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	f, err := records.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Append(sample(0, 1)); err != nil {
		t.Fatal(err)
	}
	whole := text(t, set(sample(0, 1))) + "a note"
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	var no *records.NotRecordsError
	if err := f.Append(sample(1, 1)); !errors.As(err, &no) || no.Line != 2 {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != whole {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDamagedInside: lines between records that are no records are not touched by tuners, and nobody drops them.
func TestDamagedInside(t *testing.T) {
	good := text(t, set(sample(0, 100)))
	torn := good[:len(good)/2]
	for name, c := range map[string]struct {
		text string
		lost int // line of which Rewrite says that it would be lost
	}{
		"torn inside":          {torn + "\n" + good, 0},
		"a note inside":        {good + "a note\n" + good, 2},
		"another writer":       {strings.Replace(good, `{"format":`, `{ "format": `, 1), 0},
		"of a version to come": {`{"format":"ripc.record/7"}`, 0},
		"blank tail":           {good + "  ", 0},
		"empty":                {"", 0},
		"blank":                {"\n\n", 0},
	} {
		path := filepath.Join(t.TempDir(), "r.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		appendTo(t, path, sample(7, 80))
		got, err := os.ReadFile(path)
		rest, kept := strings.CutPrefix(string(got), c.text)
		if err != nil || !kept || strings.TrimPrefix(rest, "\n") != text(t, set(sample(7, 80))) {
			t.Errorf("%s: %v, appended: %q", name, err, rest)
		}
		var no *records.NotRecordsError
		err = records.Rewrite(path, func(s *records.Set) (*records.Set, error) { return s, nil })
		if (c.lost == 0) != (err == nil) || c.lost > 0 && (!errors.As(err, &no) || no.Line != c.lost) {
			t.Errorf("%s: rewrite: %v, want line %d", name, err, c.lost)
		}
	}
}

// TestNoRegularFile: what is no file with content is neither appended to nor replaced.
func TestNoRegularFile(t *testing.T) {
	if _, err := records.Open(os.DevNull); !errors.Is(err, files.ErrNotRegular) {
		t.Error(err)
	}
	if err := records.WriteFile(os.DevNull, set()); !errors.Is(err, files.ErrNotRegular) {
		t.Error(err)
	}
}

// TestReadStrangers: a file in which no line begins as a record does is refused with what it holds, however it is read; one with a
// record, or an empty one, is not.
func TestReadStrangers(t *testing.T) {
	files := strangers(t)
	for name, text := range map[string]string{"nothing": "", "blanks": "\n \n", "a torn record": `{"format":"ripc.rec`} {
		files[name] = struct {
			text string
			line int
		}{text, 0}
	}
	for name, c := range files {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		holds := c.line == 0 || strings.Contains(c.text, "ripc.record/")
		for how, read := range map[string]func(string) (*records.Set, error){"Load": records.Load, "LoadExisting": records.LoadExisting} {
			s, err := read(path)
			refused := (*records.NotRecordsError)(nil)
			if errors.As(err, &refused) == holds || holds && (err != nil || s == nil) || !holds && (refused.Line != c.line || refused.Kind == "") {
				t.Errorf("%s of %s: %v", how, name, err)
			}
		}
	}
}
