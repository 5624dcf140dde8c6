package records_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/autotune/records"
)

// index is LoadIndex of a text.
func index(t testing.TB, dir, text string) *records.Set {
	t.Helper()
	path := filepath.Join(dir, "r.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := records.LoadIndex(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wantIndexed fails unless LoadIndex of a text says what Read says, and its records are whole.
func wantIndexed(t testing.TB, dir, text string) {
	t.Helper()
	want := read(t, text)
	stranger := func(d records.Damaged) bool { return d.Stranger }
	if len(want.Records)+len(want.Foreign) == 0 && slices.ContainsFunc(want.Damaged, stranger) && !slices.ContainsFunc(want.Damaged, func(d records.Damaged) bool { return !d.Stranger }) {
		return // a file of something else, which is refused (TestReadStrangers)
	}
	got := index(t, dir, text)
	if !reflect.DeepEqual(want.Foreign, got.Foreign) || len(want.Damaged) != len(got.Damaged) || len(want.Records) != len(got.Records) {
		t.Fatalf("%d, %d, %d records, foreign and damaged, want %d, %d, %d, of %q", len(got.Records), len(got.Foreign), len(got.Damaged), len(want.Records), len(want.Foreign), len(want.Damaged), text)
	}
	for i, d := range want.Damaged {
		if g := got.Damaged[i]; g.Line != d.Line || g.Err.Error() != d.Err.Error() || g.Torn != d.Torn || g.Stranger != d.Stranger {
			t.Fatalf("damaged: %v, want %v", &g, &d)
		}
	}
	for i, r := range want.Records {
		g := got.Records[i]
		whole, err := g.Complete()
		if err != nil || !reflect.DeepEqual(whole, r) {
			t.Fatalf("record %d: %+v, %v, want %+v", i, whole, err, r)
		}
		if g.Candidate.Trace != nil || g.Result.Samples != nil {
			t.Fatalf("record %d holds what is large: %+v", i, g)
		}
		if g.Task() != r.Task() || g.Class() != r.Class() || g.Machine != r.Machine || g.Versions != r.Versions || g.Origin != r.Origin || g.Workload != r.Workload ||
			g.Candidate.Algorithm != r.Candidate.Algorithm || g.Candidate.Strategy != r.Candidate.Strategy || g.Result.Cost != r.Result.Cost ||
			(g.Result.Failure == nil) != (r.Result.Failure == nil) || r.Result.Failure != nil && g.Result.Failure.Kind != r.Result.Failure.Kind {
			t.Fatalf("record %d: %+v, want %+v", i, g, r)
		}
		for j := range want.Records[:i] {
			if (g.Candidate.Key() == got.Records[j].Candidate.Key()) != (r.Candidate.Key() == want.Records[j].Candidate.Key()) {
				t.Fatalf("records %d and %d are the same candidate in one of both: %q", i, j, text)
			}
		}
	}
	for _, task := range want.Tasks() {
		for _, c := range want.Classes(task) {
			ranked := got.Ranked(task, c)
			for i, r := range want.Ranked(task, c) {
				if ranked[i].Result.Cost != r.Result.Cost {
					t.Fatalf("rank %d costs %g, want %g", i, ranked[i].Result.Cost, r.Result.Cost)
				}
			}
		}
	}
}

// TestIndex compares indices of files, also of damaged ones, with what Read gives.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		s := anySet(rt)
		for i := range s.Records {
			c := &s.Records[i].Candidate
			c.Trace = rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "a\nb", "a\"b", "\\", "\u00e9", "{", "],"}), 0, 4).Draw(rt, "trace")
			c.Algorithm = rapid.SampledFrom([]string{"", "words", "\u00e9"}).Draw(rt, "algorithm")
		}
		all := []byte(text(t, s))
		for range rapid.IntRange(0, 3).Draw(rt, "damages") {
			if len(all) == 0 {
				break
			}
			at := rapid.IntRange(0, len(all)-1).Draw(rt, "at")
			piece := []byte(rapid.SampledFrom([]string{"", "\"", "{", "}", ",", "\n", " ", "\\", "x", "\xff", "\x01", "]", `"trace":[],`, `"target":"rpi4",`}).Draw(rt, "piece"))
			cut := rapid.IntRange(0, min(3, len(all)-at)).Draw(rt, "cut")
			all = append(append(append([]byte(nil), all[:at]...), piece...), all[at+cut:]...)
		}
		wantIndexed(t, dir, string(all))
	})
}

// TestIndexForms: lines in other forms than ripc's own are indexed as well.
func TestIndexForms(t *testing.T) {
	good := text(t, set(sample(0, 100)))
	for _, c := range []string{
		"", "\n\n", good, "  " + good, good + good[:100], strings.Replace(good, `{"format":`, `{ "format" : `, 1), strings.Replace(good, "rpi3", `rpi\u0033`, 1),
		strings.Replace(good, `"trace":[`, `"trace":[ `, 1), strings.Replace(good, `,"values":{"a":1,"n":0}`, "", 1), strings.Replace(good, `"values":{"a":1,"n":0}`, `"values":{"a":1.5}`, 1),
		strings.Replace(good, `"algorithm":"words",`, "", 1), strings.Replace(good, `"trace":["split %i 4","unroll %j 0"]`, `"trace":[]`, 1), strings.Replace(good, `"split %i 4",`, `"split %i 4"`, 1),
		strings.Replace(good, `"split %i 4",`, `,`, 1), strings.Replace(good, "split", "spl\u00eft", 1), strings.TrimSpace(good) + " {}\n", strings.Replace(good, "}\n", `,"format":"x"}`, 1),
		strings.Repeat("x", records.MaxLine+1) + "\n" + good,
	} {
		wantIndexed(t, t.TempDir(), c)
	}
}

// TestIndexSize: an index takes a small part of what its file does, and what is made of it is whole.
func TestIndexSize(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		b.WriteString(text(t, set(with(sample(i, 100), func(r *records.Record) { r.Candidate.Trace = []string{strings.Repeat("step ", 2000), fmt.Sprint(i)} }))))
	}
	all := b.String()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := index(t, t.TempDir(), all)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > int64(len(all)/10) {
		t.Errorf("%d bytes are kept of a file of %d", kept, len(all))
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > uint64(2*len(all)) { // one copy is the test's
		t.Errorf("%d bytes were allocated for a file of %d", made, len(all))
	}
	if len(s.Records) != 2000 || text(t, s) != all {
		t.Error("written again it is something else")
	}
}

// TestIndexChanged: what was overwritten since is not taken for what it was.
func TestIndexChanged(t *testing.T) {
	dir := t.TempDir()
	s := index(t, dir, text(t, set(sample(0, 100), sample(1, 100))))
	if err := os.WriteFile(filepath.Join(dir, "r.jsonl"), []byte(text(t, set(sample(3, 100), sample(1, 100)))), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Records[0].Complete(); !errors.Is(err, records.ErrChanged) {
		t.Error(err)
	}
	if r, err := s.Records[1].Complete(); err != nil || r.Origin.Trial != 1 {
		t.Error(r, err)
	}
}
