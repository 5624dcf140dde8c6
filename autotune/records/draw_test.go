package records_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"ripc/autotune/records"
	"ripc/internal/golden"
)

// searched are records of two tuners that searched for one task, and of another task.
func searched() *records.Set {
	s := &records.Set{}
	for seed, costs := range [][]float64{{100e3, 120e3, 0, 90e3, 95e3, 60e3, 61e3}, {100e3, 99e3, 98e3, 70e3}} {
		for n, c := range costs {
			r := sample(n, c)
			if c == 0 {
				r = failed(n, records.Wrong)
			}
			r.Origin.Seed = uint64(seed)
			s.Records = append(s.Records, r)
		}
	}
	r := with(sample(0, 2.5e6), func(r *records.Record) {
		r.Workload = records.Workload{Op: "dense", Shape: "1024 -> 10 <&>", Key: "0123456789abcdef"}
		r.Machine.Simulated, r.Result.Unit = true, records.Cycles
	})
	s.Records = append(s.Records, r)
	return s
}

func TestCurves(t *testing.T) {
	s := searched()
	task := s.Tasks()[0]
	got := s.Curves(task, s.Classes(task)[0])
	if len(got) != 2 {
		t.Fatalf("%d curves, want 2", len(got))
	}
	want := []records.Point{{0, 100e3}, {3, 90e3}, {5, 60e3}, {6, 60e3}}
	if len(got[0].Points) != len(want) {
		t.Fatalf("%v, want %v", got[0].Points, want)
	}
	for i, p := range want {
		if got[0].Points[i] != p {
			t.Errorf("point %d: %v, want %v", i, got[0].Points[i], p)
		}
	}
}

func TestSummaries(t *testing.T) {
	s := searched()
	s.Records = append(s.Records, with(failed(1, records.Unbuildable), func(r *records.Record) { r.Machine.CPU = "another" }))
	got := s.Summaries()
	if len(got) != 3 {
		t.Fatalf("%d summaries, want 3", len(got))
	}
	if one := got[0]; one.Trials != 11 || one.Failed != 1 || one.Best.Result.Cost != 60e3 || one.Gain() < 1.6 || one.Gain() > 1.7 {
		t.Errorf("%+v, gain %g", one, one.Gain())
	}
	if one := got[1]; one.Class.CPU != "another" || one.Trials != 1 || one.Failed != 1 || one.Best != nil || one.Gain() != 0 {
		t.Errorf("%+v", one)
	}
	if one := got[2]; one.Best == nil || one.Gain() != 1 {
		t.Errorf("%+v", one)
	}
}

// well fails unless the picture is well-formed XML.
func well(t *testing.T, picture []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(picture))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDraw(t *testing.T) {
	picture, ok := searched().DrawCurves()
	if !ok {
		t.Fatal("nothing to draw")
	}
	well(t, picture)
	golden.Check(t, "testdata/curves.svg", picture)
	if one, ok := searched().DrawCurves("0123"); !ok || strings.Contains(string(one), "conv2d") || !strings.Contains(string(one), "dense") {
		t.Error("the choice of workloads is not heeded")
	}
	if _, ok := searched().DrawCurves("none"); ok {
		t.Error("something is drawn of nothing")
	}
	bars := records.DrawImportance("cost model of rpi3", []records.Share{{"bytes of the innermost loop", 0.5}, {"unrolled <8>", 0.25}, {"last", 0}})
	well(t, bars)
	golden.Check(t, "testdata/importance.svg", bars)
}

func TestUnitText(t *testing.T) {
	for want, c := range map[string]struct {
		unit records.Unit
		cost float64
	}{
		"950 ns": {records.Nanoseconds, 950}, "1.00 us": {records.Nanoseconds, 999.6}, "12.4 us": {records.Nanoseconds, 12400}, "1.50 ms": {records.Nanoseconds, 1.5e6},
		"2.00 s": {records.Nanoseconds, 2e9}, "100 us": {records.Nanoseconds, 99960}, "3.10 M cycles": {records.Cycles, 3.1e6}, "17 cycles": {records.Cycles, 17}, "0.50 ns": {records.Nanoseconds, 0.5},
	} {
		if got := c.unit.Text(c.cost); got != want {
			t.Errorf("%g %s: %q, want %q", c.cost, c.unit, got, want)
		}
	}
}
