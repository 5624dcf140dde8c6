// Package machine predicts the cost of a scheduled Func on a machine. A machine is files in data,
// which are fitted to schedules that were measured (go run ./lab fit); none of their numbers stands
// in code:
//
//	TARGET.json       a price for each count of features.Describer.Describe, and where it is from
//	TARGET.trees.gz   trees that correct the sum of prices, by the share of each: the mean of
//	                  several models, each without some of the layers
//	TARGET.sieve.gz   trees that guess a cost before there is a Func, from the definition and the
//	                  knobs; they learn from the model itself
//	TARGET.starts.gz  the best schedules that were measured, with the extents of their kernels:
//	                  where searches begin
package machine

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"ripc/internal/lists"
	"ripc/schedule/costmodel"
	"ripc/schedule/features"
	"ripc/targets"
)

//go:embed data
var files embed.FS

// Weights are the contents of a machine's file.
type Weights struct {
	Target string `json:"target"`
	Unit   string `json:"unit"` // of costs, such as "instructions"
	// Date, Commit and Tool tell the origin of the measurements: the day, the code, and the tool
	// that counted or timed.
	Date   string `json:"date"`
	Commit string `json:"commit"`
	Tool   string `json:"tool"`
	// Networks and Points are the numbers of measured networks and stages. Error is the model's on
	// networks that a fit has not seen.
	Networks int   `json:"networks"`
	Points   int   `json:"points"`
	Error    Error `json:"error"`
	// Sieve is the error of the sieve's guesses for layers that it has not seen (SieveError).
	Sieve float64 `json:"sieve,omitempty"`
	// Choice judges compile's choices by the model, on layers or networks that the fit has not
	// seen, by costs on one core; Shared by those on all cores.
	Choice Choice `json:"choice"`
	Shared Choice `json:"shared,omitzero"`
	// Terms are the prices of counts, by name. A price of 0 is left out.
	Terms map[string]float64 `json:"terms"`
	// Strategies are those of the measured schedules, in order.
	Strategies []string `json:"strategies,omitempty"`
}

// Error is quantiles of |predicted/measured - 1|.
type Error struct {
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
}

// Choice compares the schedules that compile chose with the best that were measured. Mean, P90 and
// Worst are the geometric mean, the 90th percentile and the largest of the ratios of measured
// costs.
type Choice struct {
	Networks int     `json:"networks"`
	Mean     float64 `json:"mean"`
	P90      float64 `json:"p90,omitempty"`
	Worst    float64 `json:"worst"`
}

// Model predicts costs on a target. It may be used from several goroutines.
type Model struct {
	Weights
	describe  *features.Describer
	prices    []float64 // in the order of the Describer's counts
	names     []string  // of features
	unknown   []int     // numbers of counts of instructions that the measured machine does not have
	blocks    int       // number of that of a parallel loop's
	full      int       // and of the part of it that is there
	worked    int       // number of that of the work of a definition
	target    targets.Target
	readTrees func() (learned, error)
	starts    map[string][]start  // by strategy
	records   map[string][]Record // by kernel
}

// Of is the model of t, or of the machine that it is like. ok is false where none was fitted.
func Of(t targets.Target) (m *Model, ok bool, err error) {
	read, ok := machines()[t.Name]
	if !ok {
		return nil, false, nil
	}
	m, err = read()
	return m, err == nil, err
}

// FileName is the name of the files of t's model, without their ends: a host's are of all hosts
// like it.
func FileName(t targets.Target) string { return cmp.Or(t.Family, t.Name) }

// machines read each file once, when its model is asked for first.
var machines = sync.OnceValue(func() map[string]func() (*Model, error) {
	all := map[string]func() (*Model, error){}
	data, err := fs.Sub(files, "data")
	if err != nil {
		panic("BUG: " + err.Error()) // the name is a valid one
	}
	for _, t := range targets.All() {
		for name, next := FileName(t), t.Like; name != ""; {
			if _, err := fs.Stat(data, name+".json"); err == nil {
				all[t.Name] = sync.OnceValues(func() (*Model, error) { return open(data, name, t) })
				break
			}
			like, _ := targets.Lookup(next) // "" is like none
			name, next = next, like.Like
		}
	}
	return all
})

// Read decodes a model's files of a folder, for t.
func Read(dir fs.FS, name string, t targets.Target) (*Model, error) {
	m, err := open(dir, name, t)
	if err != nil {
		return nil, err
	}
	_, err = m.readTrees()
	return m, err
}

// open is Read, but for the trees, which are decoded when they are asked for first.
func open(dir fs.FS, name string, t targets.Target) (*Model, error) {
	m, err := readWeights(dir, name, t)
	if err != nil {
		return nil, err
	}
	m.readTrees = sync.OnceValues(func() (learned, error) { return m.decodeTrees(dir, name) })
	return m, nil
}

// trees returns the trees of a model with files that were tested.
func (m *Model) trees() learned {
	trees, err := m.readTrees()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return trees
}

// setTrees replaces the trees.
func (m *Model) setTrees(trees learned) {
	m.readTrees = func() (learned, error) { return trees, nil }
}

// readWeights decodes a model's weights and starts.
func readWeights(dir fs.FS, name string, t targets.Target) (*Model, error) {
	data, err := fs.ReadFile(dir, name+".json")
	if err != nil {
		return nil, err
	}
	var w Weights
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return nil, fmt.Errorf("weights of %s: %w", name, err)
	}
	m, err := New(t, w)
	if err != nil {
		return nil, err
	}
	starts, err := readStarts(dir, name+startsFile)
	m.begin(starts)
	return m, err
}

// decodeTrees reads a model's files of trees.
func (m *Model) decodeTrees(dir fs.FS, name string) (trees learned, err error) {
	var files errgroup.Group
	for _, part := range m.parts(&trees) {
		files.Go(func() (err error) {
			*part.model, err = readTrees(dir, name+part.suffix, part.names)
			return err
		})
	}
	err = files.Wait()
	return trees, err
}

// readStarts decodes a file of starts, if there is one.
func readStarts(dir fs.FS, name string) (starts []start, err error) {
	data, err := unpack(dir, name)
	if err != nil || data == nil {
		return nil, err
	}
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&starts); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, s := range starts {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return starts, nil
}

// startsFile is the end of the name of the file of starts.
const startsFile = ".starts.gz"

// begin indexes the starts. A target of another architecture begins its searches there, too, but
// the costs of kernels there are not its own.
func (m *Model) begin(starts []start) {
	m.starts, m.records = map[string][]start{}, map[string][]Record{}
	fitted, err := targets.Lookup(m.Target)
	isForeign := err == nil && fitted.Arch != m.target.Arch
	for _, s := range starts {
		s.sizes = lists.Map(s.Extents, size)
		m.starts[s.Strategy] = append(m.starts[s.Strategy], s)
		if isForeign {
			continue
		}
		m.records[s.Kernel] = append(m.records[s.Kernel],
			Record{s.Strategy, s.values(), s.Cost, s.Cost * m.turns(s.Blocks, s.Full)})
	}
	for _, r := range m.records {
		slices.SortStableFunc(r, func(a, b Record) int { return cmp.Compare(a.Time, b.Time) })
	}
}

// unpack reads a file, nil if there is none.
func unpack(dir fs.FS, name string) ([]byte, error) {
	packed, err := dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer packed.Close()
	text, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data, err := io.ReadAll(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

// readTrees decodes a file of trees, nil if there is none.
func readTrees(dir fs.FS, name string, names []string) (*costmodel.Model, error) {
	data, err := unpack(dir, name)
	if err != nil || data == nil {
		return nil, err
	}
	m, err := costmodel.Decode(data, names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// WriteWeights writes m's weights and errors to a folder, and none of its trees.
func (m *Model) WriteWeights(dir string) error {
	text, err := json.MarshalIndent(m.Weights, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, m.Target+".json"), append(text, '\n'), 0o644)
}

// Write writes m's files to a folder.
func (m *Model) Write(dir string) error {
	if err := m.WriteWeights(dir); err != nil {
		return err
	}
	trees := m.trees()
	for _, part := range m.parts(&trees) {
		if *part.model == nil {
			continue
		}
		if err := pack(filepath.Join(dir, m.Target+part.suffix), (*part.model).Encode()); err != nil {
			return err
		}
	}
	if len(m.starts) == 0 {
		return nil
	}
	var starts []start
	for _, strategy := range slices.Sorted(maps.Keys(m.starts)) {
		starts = append(starts, m.starts[strategy]...)
	}
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(starts); err != nil {
		return err
	}
	return pack(filepath.Join(dir, m.Target+startsFile), data.Bytes())
}

// pack writes a file that unpack reads.
func pack(path string, data []byte) error {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o644)
}

// part is a model of trees, its file and its features.
type part struct {
	model  **costmodel.Model
	suffix string
	names  []string
}

func (m *Model) parts(trees *learned) []part {
	return []part{{&trees.prices, ".trees.gz", questions(m.describe)},
		{&trees.sieve, ".sieve.gz", sieveQuestions(m.Strategies)}}
}

// New is the model of t with weights. It fails if these name an unknown count.
func New(t targets.Target, w Weights) (*Model, error) {
	m := &Model{Weights: w, describe: features.For(t), names: features.Names(), target: t}
	m.setTrees(learned{})
	m.blocks, m.full, m.worked = slices.Index(m.names, "parallel"), slices.Index(m.names, "parallel_full"),
		slices.Index(m.names, "total.work")
	names := m.describe.CountNames()
	for name := range w.Terms {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("the weights of %s have a term %q, which is not counted: remove its files from "+
				"schedule/machine/data, and fit them anew (go run ./lab fit, target %s)", w.Target, name, w.Target)
		}
	}
	m.prices = lists.Map(names, func(n string) float64 { return w.Terms[n] })
	if measured, err := targets.Lookup(w.Target); err == nil { // else that of a host, as t is
		for _, n := range features.For(measured).Lacking() {
			m.unknown = append(m.unknown, slices.Index(names, n))
		}
	}
	return m, nil
}
