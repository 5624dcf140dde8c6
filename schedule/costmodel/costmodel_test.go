package costmodel

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ripc/internal/need"
)

func library(t testing.TB) *Library {
	t.Helper()
	l, err := Open("")
	need.OK(t, err)
	return l
}

func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("f%d", i)
	}
	return out
}

// options are those for features of the given names.
func options(names []string) Options { return Options{Names: names, Rounds: 60, Depth: 5, Rate: 0.2} }

// awkward are rows of numbers that trees may stumble over: both zeros, subnormal ones, none at all.
func awkward(r *rand.Rand, rows, width int) [][]float32 {
	values := []float32{0, float32(math.Copysign(0, -1)), 1, 2, 3, 4, 8, -1, 1e-40, 0.1, missing()}
	out := make([][]float32, rows)
	for i := range out {
		for range width {
			out[i] = append(out[i], values[r.IntN(len(values))])
		}
	}
	return out
}

// samples have labels that a few of their features say.
func samples(r *rand.Rand, n, width int) []Sample {
	var out []Sample
	for _, x := range awkward(r, n, width) {
		v := float64(x[0])
		if v != v {
			v = 7
		}
		w := 0.0
		if width > 1 && x[1] > 1 {
			w = 2
		}
		out = append(out, Sample{Features: x, Label: float32(3 + math.Sin(3*v) + w)})
	}
	return out
}

// TestEqualsXGBoost compares the trees that leaves goes through with XGBoost's own margins.
func TestEqualsXGBoost(t *testing.T) {
	l := library(t)
	for _, width := range []int{1, 12, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(width)))
			s := l.session()
			defer s.close()
			m, err := train(t.Context(), s, samples(r, 400, width), options(names(width)))
			if err != nil {
				t.Fatal(err)
			}
			rows := awkward(r, 10000, width)
			x := s.matrix(slices.Concat(rows...), len(rows))
			want := s.margins(x)
			if s.err != nil {
				t.Fatal(s.err)
			}
			compare(t, m.Predict(rows), want)
			if slices.Min(want) == slices.Max(want) {
				t.Error("the model says the same of all rows")
			}
		})
	}
}

func compare(t *testing.T, got []float64, want []float32) {
	t.Helper()
	worst := 0.0
	for i, w := range want {
		worst = max(worst, math.Abs(got[i]-float64(w)))
	}
	if worst > 1e-5 {
		t.Errorf("predictions differ from XGBoost's by %g", worst)
	}
}

// TestConstant has nothing to split by: trees of one leaf.
func TestConstant(t *testing.T) {
	s := slices.Repeat([]Sample{{Features: []float32{1, 2}, Label: 5}}, 4)
	m, err := library(t).Train(t.Context(), s, options(names(2)))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Predict([][]float32{{1, 2}, {8, 9}}); math.Abs(got[0]-5) > 1e-6 || got[0] != got[1] {
		t.Errorf("%v, want 5", got)
	}
	if len(m.Importance()) != 0 {
		t.Errorf("%v", m.Importance())
	}
}

// TestLearns asks for labels, and which feature they go by.
func TestLearns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var all []Sample
	for range 300 {
		x := []float32{float32(r.IntN(10)), float32(r.IntN(10))}
		all = append(all, Sample{Features: x, Label: 1 + x[0]})
	}
	m, err := library(t).Train(t.Context(), all, options([]string{"matters", "noise"}))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float32
	var want []float32
	for v := range 10 {
		rows, want = append(rows, []float32{float32(v), 4}), append(want, float32(1+v))
	}
	for i, got := range m.Predict(rows) {
		if math.Abs(got-float64(want[i])) > 0.1 {
			t.Errorf("%v, want %v", got, want[i])
		}
	}
	if top := m.Importance()[0]; top.Feature != "matters" || top.Gain < 0.7 || top.Splits == 0 {
		t.Errorf("%+v", top)
	}
}

// TestConstants: features that are the same in all samples, or in none, are as if they were not there, but for their names.
func TestConstants(t *testing.T) {
	l := library(t)
	nan := float32(math.NaN())
	few := samples(rand.New(rand.NewPCG(1, 2)), 60, 2)
	var wide []Sample
	for _, s := range few {
		w := s
		w.Features = []float32{3, s.Features[0], nan, s.Features[1]}
		wide = append(wide, w)
	}
	small, err := l.Train(t.Context(), few, options([]string{"a", "b"}))
	if err != nil {
		t.Fatal(err)
	}
	o := options([]string{"same", "a", "none", "b"})
	large, err := l.Train(t.Context(), wide, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range few {
		if a, b := small.Predict([][]float32{few[i].Features})[0], large.Predict([][]float32{wide[i].Features})[0]; a != b {
			t.Fatalf("sample %d: %v, with features that tell nothing %v", i, a, b)
		}
	}
	if a, b := small.Importance(), large.Importance(); !reflect.DeepEqual(a, b) {
		t.Errorf("%v, with features that tell nothing %v", a, b)
	}
}

func TestDeterministic(t *testing.T) {
	l := library(t)
	var first string
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			m, err := l.Train(t.Context(), samples(rand.New(rand.NewPCG(9, 9)), 200, 20), options(names(20)))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if text := string(m.Encode()); first == "" {
				first = text
			} else if text != first {
				t.Error("the same samples give another model")
			}
		})
	}
	all.Wait()
}

func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	m, err := library(t).Train(t.Context(), samples(r, 200, 8), options(names(8)))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(m.Encode(), m.names)
	if err != nil {
		t.Fatal(err)
	}
	rows := awkward(r, 1000, 8)
	if !slices.Equal(got.Predict(rows), m.Predict(rows)) || !slices.Equal(got.Importance(), m.Importance()) {
		t.Error("what was saved is another model")
	}
	more := append([]string{"new"}, m.names...)
	slices.Reverse(more)
	if got, err = Decode(m.Encode(), more); err != nil {
		t.Fatal(err)
	}
	for _, x := range rows {
		y := slices.Concat([]float32{5}, x)
		slices.Reverse(y)
		if got.Predict([][]float32{y})[0] != m.Predict([][]float32{x})[0] {
			t.Fatal("a model in which features are looked for by name says something else")
		}
	}
	if _, err := Decode(m.Encode(), names(1)); !errors.As(err, new(*FormatError)) {
		t.Errorf("features that are gone: %v", err)
	}
	text := string(m.Encode())
	for _, change := range [][2]string{
		{Format, "ripc.costmodel/0"}, {`"reg:squarederror"`, `"multi:softmax"`}, {`"nodes":[`, `"nodes":[77,`}, {`"nodes":[`, `"nodes":[-1,`},
		{`"nodes":[`, `"nodes":[],"x":[`}, {"{", "["}, {"}\n", "}\n0"},
	} {
		if !strings.Contains(text, change[0]) {
			t.Fatalf("no %s in %.300s", change[0], text)
		}
		if _, err := Decode([]byte(strings.Replace(text, change[0], change[1], 1)), m.names); !errors.As(err, new(*FormatError)) {
			t.Errorf("%s for %s: %v", change[1], change[0], err)
		}
	}
	for _, feature := range []int32{-2, 77} { // of the first split
		n := strings.Index(text, "\n") + 1
		if _, err := Decode(append(binary.LittleEndian.AppendUint32([]byte(text[:n]), uint32(feature)), text[n+4:]...), m.names); !errors.As(err, new(*FormatError)) {
			t.Errorf("feature %d: %v", feature, err)
		}
	}
}

// FuzzDecode: whatever Decode reads can be asked and written.
func FuzzDecode(f *testing.F) {
	split := tree{[]int32{0, leaf, leaf}, []float32{0.5, 1, 2}, []int32{2, 0, 0}, []int8{1, 0, 0}, []float32{3, 0, 0}}
	m, err := newModel(names(2), 0.25, []tree{split, {[]int32{leaf}, []float32{4}, []int32{0}, []int8{0}, []float32{0}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data, names(2))
		if err != nil {
			if !errors.As(err, new(*FormatError)) {
				t.Fatal(err)
			}
			return
		}
		again, err := Decode(m.Encode(), names(2))
		if err != nil {
			t.Fatal(err)
		}
		row := [][]float32{{0.5, missing()}}
		if x, y := m.Predict(row)[0], again.Predict(row)[0]; x != y && x == x {
			t.Errorf("%v, %v when it was written and read", x, y)
		}
	})
}

func TestMissing(t *testing.T) {
	_, err := Open("/nowhere/libxgboost.so.0")
	var m *MissingError
	if !errors.As(err, &m) || !strings.Contains(err.Error(), "apt-get install libxgboost0") {
		t.Fatal(err)
	}
	// A library that is another one.
	if _, err := Open("libc.so.6"); !errors.As(err, &m) {
		t.Fatal(err)
	}
}

func TestRefused(t *testing.T) {
	l := library(t)
	good := Sample{Features: []float32{1}}
	for name, c := range map[string]struct {
		samples []Sample
		change  func(*Options)
	}{
		"none":     {nil, func(*Options) {}},
		"width":    {[]Sample{{Features: []float32{1, 2}}}, func(*Options) {}},
		"nan":      {[]Sample{{Features: []float32{1}, Label: float32(math.NaN())}}, func(*Options) {}},
		"label":    {[]Sample{{Features: []float32{1}, Label: float32(math.Inf(-1))}}, func(*Options) {}},
		"infinite": {[]Sample{{Features: []float32{float32(math.Inf(1))}}}, func(*Options) {}},
		"rounds":   {[]Sample{good}, func(o *Options) { o.Rounds = 0 }},
	} {
		o := options(names(1))
		c.change(&o)
		if _, err := l.Train(t.Context(), c.samples, o); !errors.As(err, new(*SamplesError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Train(ctx, []Sample{good}, options(names(1))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestErrorsOfThreads makes many sessions fail at once: each has to get the text of its own error.
func TestErrorsOfThreads(t *testing.T) {
	l := library(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for k := range 20 {
				s := l.session()
				x := s.matrix([]float32{1, 2, 3, 4}, 4)
				name := fmt.Sprintf("no-such-objective-%d-%d", i, k)
				s.boost([][2]string{{"verbosity", "0"}, {"objective", name}})
				s.round(0, x)
				var e *TrainError
				if !errors.As(s.err, &e) || !strings.Contains(e.Text, name) {
					t.Errorf("%v, want one about %s", s.err, name)
				}
				s.close()
			}
		})
	}
	all.Wait()
}

// TestLeaks trains many times from many goroutines and looks at the threads and the memory of the process.
func TestLeaks(t *testing.T) {
	l := library(t)
	s := samples(rand.New(rand.NewPCG(3, 3)), 300, 100)
	o := options(names(100))
	o.Rounds = 5
	many := func(n int) {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range n {
					if _, err := l.Train(t.Context(), s, o); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
	many(20)
	threads, memory := process(t)
	many(80)
	threadsLater, memoryLater := process(t)
	if threadsLater > threads+8 {
		t.Errorf("%d threads became %d", threads, threadsLater)
	}
	// A matrix of these samples has 120 KB, so 320 that were not freed would be 38 MB.
	if memoryLater > memory+16<<20 {
		t.Errorf("%d bytes became %d", memory, memoryLater)
	}
}

// process counts the threads of this process and the bytes of memory that it has.
func process(t *testing.T) (threads, memory int) {
	t.Helper()
	debug.FreeOSMemory()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks), pages * os.Getpagesize()
}

func BenchmarkTrain(b *testing.B) {
	l := library(b)
	s := samples(rand.New(rand.NewPCG(1, 1)), 500, 150)
	for b.Loop() {
		if _, err := l.Train(b.Context(), s, options(names(150))); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPredict1000(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	m, err := library(b).Train(b.Context(), samples(r, 500, 150), options(names(150)))
	if err != nil {
		b.Fatal(err)
	}
	rows := awkward(r, 1000, 150)
	for b.Loop() {
		m.Predict(rows)
	}
}
