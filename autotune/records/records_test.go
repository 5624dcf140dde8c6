package records_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ripc/autotune/records"
	"ripc/internal/files"
)

// sample is a record of trial n at a cost.
func sample(n int, cost float64) records.Record {
	return records.Record{
		Format:    records.Format,
		Workload:  records.Workload{Op: "bitserial_conv2d", Shape: "14x14x64 -> 14x14x64, 3x3, 1 bit by 1", Key: "w1", MACs: 7225344},
		Target:    "rpi3",
		Candidate: records.Candidate{Algorithm: "words", Strategy: "tiles", Values: map[string]int{"n": n, "a": 1}, Trace: []string{"split %i 4", fmt.Sprintf("unroll %%j %d", n)}},
		Result:    records.Measurement{Cost: cost, Unit: records.Nanoseconds, Low: cost * 0.99, High: cost * 1.01, Samples: []float64{cost, cost}},
		Machine:   records.Machine{CPU: "Cortex-A53", Host: "pi@board"},
		Versions:  records.Versions{Ripc: "0.9.0", LLVM: "22.1.0"},
		Origin:    records.Origin{Tuner: "xgb", Seed: 1, Trial: n, Time: "2026-01-02T03:04:05Z"},
	}
}

// failed is sample with a failure.
func failed(n int, kind records.FailureKind) records.Record {
	r := sample(n, 1)
	r.Result = records.Measurement{Failure: &records.Failure{Kind: kind, Text: "it did"}}
	return r
}

func with(r records.Record, change func(*records.Record)) records.Record {
	change(&r)
	return r
}

func text(t testing.TB, s *records.Set) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(t testing.TB, text string) *records.Set {
	t.Helper()
	s, err := records.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func set(rs ...records.Record) *records.Set { return &records.Set{Records: rs} }

func TestLine(t *testing.T) {
	got := text(t, set(sample(3, 1500)))
	want := `{"format":"ripc.record/1","workload":{"op":"bitserial_conv2d","shape":"14x14x64 -> 14x14x64, 3x3, 1 bit by 1","key":"w1","macs":7225344},"target":"rpi3",` +
		`"candidate":{"algorithm":"words","strategy":"tiles","values":{"a":1,"n":3},"trace":["split %i 4","unroll %j 3"]},` +
		`"result":{"cost":1500,"unit":"ns","low":1485,"high":1515,"samples":[1500,1500]},"machine":{"cpu":"Cortex-A53","host":"pi@board"},` +
		`"versions":{"ripc":"0.9.0","llvm":"22.1.0"},"origin":{"tuner":"xgb","seed":1,"trial":3,"time":"2026-01-02T03:04:05Z"}}` + "\n"
	if got != want {
		t.Error(cmp.Diff(want, got))
	}
}

// anyRecord draws records of few tasks, candidates and machines, so that they meet.
func anyRecord() *rapid.Generator[records.Record] {
	return rapid.Custom(func(t *rapid.T) records.Record {
		one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
		n := rapid.IntRange(0, 5).Draw(t, "trial")
		r := sample(n, rapid.Float64Range(1, 1e9).Draw(t, "cost"))
		r.Workload.Key = one("key", "w1", "w2")
		r.Workload.Shape = rapid.String().Draw(t, "shape")
		r.Target = one("target", "rpi3", "rpi4")
		r.Versions.Ripc = one("version", "0.9.0", "0.8.0")
		r.Origin.Tuner = one("tuner", "xgb", "random")
		r.Origin.Time = one("time", "", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05+02:00")
		r.Machine.CPU = one("cpu", "Cortex-A53", "Cortex-A72")
		if r.Machine.Simulated = rapid.Bool().Draw(t, "simulated"); r.Machine.Simulated {
			r.Result.Unit, r.Result.Low, r.Result.High = records.Cycles, 0, 0
		}
		if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
			kind := records.FailureKind(one("kind", "build", "crash", "timeout", "wrong"))
			r.Result = records.Measurement{Failure: &records.Failure{Kind: kind, Text: rapid.String().Draw(t, "text")}}
		}
		return r
	})
}

func anySet(t *rapid.T) *records.Set {
	return set(rapid.SliceOfN(anyRecord(), 0, 30).Draw(t, "records")...)
}

func TestWritingIsReading(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := anySet(rt)
		first := text(t, s)
		again := read(t, first)
		if len(again.Records) != len(s.Records) || len(again.Damaged)+len(again.Foreign) > 0 {
			rt.Fatalf("%d records became %d, %d damaged, %d foreign", len(s.Records), len(again.Records), len(again.Damaged), len(again.Foreign))
		}
		if second := text(t, again); second != first {
			rt.Fatal(cmp.Diff(first, second))
		}
	})
}

// TestCutFile cuts a file around the ends of lines and elsewhere: what stands before is read, and what is appended then as well.
func TestCutFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	whole := text(t, set(sample(0, 100), failed(1, records.Wrong), sample(2, 90)))
	ends := []int{0}
	for i, c := range whole {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	for cut := range len(whole) + 1 {
		if near := slices.ContainsFunc(ends, func(e int) bool { return max(cut-e, e-cut) <= 3 }); !near && cut%23 != 0 {
			continue // each costs a sync of the disk
		}
		if err := os.WriteFile(path, []byte(whole[:cut]), 0o666); err != nil {
			t.Fatal(err)
		}
		lines := 0 // whole records, the last perhaps without its end
		for _, e := range ends[1:] {
			if cut >= e-1 {
				lines++
			}
		}
		s, err := records.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		torn := cut != ends[lines] && cut != ends[lines]-1
		if len(s.Records) != lines || (len(s.Damaged) == 1) != torn || torn && (!s.Damaged[0].Torn || s.Damaged[0].Line != lines+1) {
			t.Fatalf("cut at %d: %d records, want %d; damaged: %v, want %v", cut, len(s.Records), lines, s.Damaged, torn)
		}
		appendTo(t, path, sample(7, 80))
		want := whole[:ends[lines]] + text(t, set(sample(7, 80)))
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Fatalf("cut at %d and appended, %v:\n%s", cut, err, cmp.Diff(want, string(got)))
		}
	}
}

func appendTo(t testing.TB, path string, rs ...records.Record) {
	t.Helper()
	f, err := records.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rs {
		if err := f.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestDamagedAndForeign(t *testing.T) {
	good := text(t, set(sample(0, 100)))
	newer := `{"format":"ripc.record/2","all":["is","other"]}`
	for _, c := range []struct{ name, line, damage string }{
		{"blank", "", ""},
		{"newer", newer, ""},
		{"no JSON", "hello", "is no JSON object"},
		{"zeros", "\x00\x00\x00", "is no JSON object"},
		{"a number", "7", "is no JSON object"},
		{"two objects", "{} {}", "is no JSON object"},
		{"two records", strings.Repeat(strings.TrimSpace(good), 2), "is no JSON object"},
		{"no format", "{}", `format: "" is none of ripc's`},
		{"another format", `{"format":"sheet/1"}`, `format: "sheet/1" is none of ripc's`},
		{"a wrong type", strings.Replace(good, `"cost":100`, `"cost":"100"`, 1), "result.cost: cannot be a string"},
		{"no key", strings.Replace(good, `"key":"w1"`, `"key":""`, 1), "workload.key: is missing"},
		{"no target", strings.Replace(good, `"target":"rpi3"`, `"target":""`, 1), "target: is missing"},
		{"no strategy", strings.Replace(good, `"strategy":"tiles"`, `"strategy":""`, 1), "candidate.strategy: is missing"},
		{"a cost of nothing", strings.Replace(good, `"cost":100`, `"cost":0`, 1), "result.cost: is 0"},
		{"a negative cost", strings.Replace(good, `"cost":100`, `"cost":-100`, 1), "result.cost: is -100"},
		{"an endless cost", strings.Replace(good, `"cost":100`, `"cost":1e999`, 1), "result.cost: cannot be a number 1e999"},
		{"an interval beside the cost", strings.Replace(good, `"low":99`, `"low":101`, 1), "100 is not between 101 and 101"},
		{"a sample of nothing", strings.Replace(good, `[100,100]`, `[100,0]`, 1), "result.samples: 0 is one"},
		{"no unit", strings.Replace(good, `"unit":"ns"`, `"unit":""`, 1), `result.unit: "" is none`},
		{"another unit", strings.Replace(good, `"unit":"ns"`, `"unit":"feet"`, 1), `result.unit: "feet" is none`},
		{"a negative clock", strings.Replace(good, `"samples"`, `"ghz":-1,"samples"`, 1), "result.ghz"},
		{"a negative trial", strings.Replace(good, `"trial":0`, `"trial":-1`, 1), "origin.trial: is -1"},
		{"an unknown failure", strings.Replace(good, `"result":{`, `"result":{"failure":{"kind":"bad luck"},`, 1), `result.failure.kind: "bad luck" is none`},
		{"failure and cost", strings.Replace(good, `"result":{`, `"result":{"failure":{"kind":"crash"},`, 1), "result.cost: is there although"},
		{"a long line", good + strings.Repeat(" ", records.MaxLine+1) + "\n" + good, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "a long line" {
				c.line, c.damage = strings.Repeat("x", records.MaxLine+1), "has more than 4194304 bytes"
			}
			s := read(t, good+strings.TrimSuffix(c.line, "\n")+"\n"+good)
			if len(s.Records) != 2 {
				t.Errorf("%d records beside it, want 2", len(s.Records))
			}
			if (c.damage != "") != (len(s.Damaged) == 1) || c.damage != "" && s.Damaged[0].Line != 2 {
				t.Fatalf("damaged: %v", s.Damaged)
			}
			if c.damage != "" && (!strings.Contains(s.Damaged[0].Err.Error(), c.damage) || s.Damaged[0].Torn) {
				t.Errorf("damaged: %v, want %s", s.Damaged, c.damage)
			}
			if c.name == "newer" {
				if len(s.Foreign) != 1 || s.Foreign[0].Format != "ripc.record/2" || s.Foreign[0].Line != 2 {
					t.Errorf("foreign: %v", s.Foreign)
				}
				if got := text(t, s); got != good+good+newer+"\n" {
					t.Errorf("written again:\n%s", got)
				}
			} else if len(s.Foreign) > 0 {
				t.Errorf("foreign: %v", s.Foreign)
			}
		})
	}
}

// TestBadAppend wants nothing of a record in the file that could not be read again.
func TestBadAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	f, err := records.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, r := range map[string]records.Record{
		"nothing": {},
		"NaN":     sample(0, math.NaN()),
		"Inf":     sample(0, math.Inf(1)),
		"long":    with(sample(0, 1), func(r *records.Record) { r.Candidate.Trace = []string{strings.Repeat("x", records.MaxLine)} }),
	} {
		if err := f.Append(r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got, err := os.ReadFile(path); err != nil || len(got) > 0 {
		t.Errorf("%v, in the file: %q", err, got)
	}
}

func TestRanked(t *testing.T) {
	task := records.Task{Workload: "w1", Target: "rpi3"}
	board := records.Class{CPU: "Cortex-A53", Unit: records.Nanoseconds}
	simulated := func(r *records.Record) { r.Machine.Simulated, r.Result.Unit = true, records.Cycles }
	s := set(
		sample(0, 100), sample(1, 50), sample(2, 70), sample(3, 10), failed(4, records.TimedOut), sample(4, 65),
		failed(3, records.Wrong),     // so trial 3 does not count
		sample(1, 90), sample(1, 80), // the median of 50, 80, 90
		with(sample(5, 20), simulated), // of another class
		with(sample(0, 1), func(r *records.Record) { // of another task
			r.Workload.Key = "w2"
		}),
	)
	var got []string
	for _, r := range s.Ranked(task, board) {
		got = append(got, fmt.Sprintf("%d:%g", r.Origin.Trial, r.Result.Cost))
	}
	if want := []string{"4:65", "2:70", "1:80", "0:100"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if best, ok := s.Best(task); !ok || best.Origin.Trial != 4 {
		t.Errorf("the best is %d, %v", best.Origin.Trial, ok)
	}
	if def, ok := s.Default(task, board); !ok || def.Result.Cost != 100 {
		t.Errorf("the default costs %g, %v", def.Result.Cost, ok)
	}
	if c := s.Classes(task); len(c) != 2 || c[0] != board || !c[1].Simulated {
		t.Errorf("classes %v", c)
	}
	if _, ok := s.Best(records.Task{Workload: "w1", Target: "rpi4"}); ok {
		t.Error("another target has a best")
	}
}

// TestClasses wants the CPU first that was measured last, whatever the zones that times are written in.
func TestClasses(t *testing.T) {
	at := func(cpu, time string) records.Record {
		return with(sample(1, 10), func(r *records.Record) { r.Machine.CPU, r.Origin.Time = cpu, time })
	}
	s := set(at("old", "2026-05-05T10:00:00Z"), at("new", "2026-05-05T08:00:00-03:00"), at("none", ""))
	var got []string
	for _, c := range s.Classes(s.Tasks()[0]) {
		got = append(got, c.CPU)
	}
	if want := []string{"new", "old", "none"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMergeAndPrune(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := anySet(rt), anySet(rt)
		merged, err := records.Merge(a, b)
		if err != nil {
			rt.Fatal(err)
		}
		if again, err := records.Merge(merged, a, b, merged); err != nil || text(t, again) != text(t, merged) {
			rt.Fatalf("%v: merged again it is something else", err)
		}
		keep := rapid.IntRange(1, 3).Draw(rt, "keep")
		pruned := merged.Prune(keep)
		if text(t, pruned.Prune(keep)) != text(t, pruned) {
			rt.Fatal("pruned again it is something else")
		}
		for _, task := range merged.Tasks() {
			was, ok := merged.Best(task)
			is, still := pruned.Best(task)
			if ok != still || ok && text(t, set(was)) != text(t, set(is)) {
				rt.Fatalf("the best was %v, %v and is %v, %v", was, ok, is, still)
			}
			for _, c := range merged.Classes(task) {
				n := len(pruned.Ranked(task, c))
				if n > keep+1 || n < min(keep, len(merged.Ranked(task, c))) {
					rt.Fatalf("%d candidates in %v", n, c)
				}
				_, had := merged.Default(task, c)
				if _, has := pruned.Default(task, c); had != has {
					rt.Fatalf("%v: had a default: %v, has: %v", c, had, has)
				}
			}
		}
		for _, r := range merged.Prune(1, "0.9.0").Records {
			if r.Versions.Ripc != "0.9.0" || r.Result.Failure != nil {
				rt.Fatalf("kept %v", r)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	good := text(f, set(sample(0, 100), failed(1, records.Crashed)))
	f.Add([]byte(good))
	f.Add([]byte(good[:len(good)-5]))
	f.Add([]byte(`{"format":"ripc.record/2"}` + "\n" + good))
	f.Add([]byte("\n\x00{}\r\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := records.Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(data, []byte("\n")) + 1
		if n := len(s.Records) + len(s.Foreign) + len(s.Damaged); n > lines {
			t.Fatalf("%d of %d lines", n, lines)
		}
		for _, task := range s.Tasks() {
			s.Best(task)
		}
		first := text(t, s)
		again := read(t, first)
		if len(again.Damaged) > 0 || text(t, again) != first {
			t.Fatalf("what was read is not what was written: %v", again.Damaged)
		}
	})
}

// TestLoadNoFile: what never ends, or is a folder, is not read.
func TestLoadNoFile(t *testing.T) {
	for path, want := range map[string]error{"/dev/zero": files.ErrNotRegular, t.TempDir(): syscall.EISDIR} {
		if _, err := records.Load(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}
