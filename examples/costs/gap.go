package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ripc"
	"ripc/autotune"
	"ripc/autotune/records"
	"ripc/autotune/runner"
	"ripc/autotune/space"
	"ripc/compile"
	"ripc/examples/networks/zoo"
	"ripc/lower/layout"
	"ripc/measure/provenance"
	"ripc/schedule"
	"ripc/targets"
)

// gapPage is docs/defaults.md and .json.
const gapPage = "docs/defaults"

// gapNetworks are those whose layers are compared unless others are named. small.json has what no network has: groups, and few channels.
func gapNetworks() []string {
	return []string{"examples/squeezenet/squeezenet.json", "examples/squeezenet/squeezenet_a2.json", "examples/squeezenet/squeezenet_a3.json", "quicknet", "resnet18_a1", "examples/costs/small.json"}
}

// gapSettings are the flags of gap.
type gapSettings struct {
	search     string
	trials     int
	dir        string // of records and of networks that are made
	only       *regexp.Regexp
	asItIs     bool
	algorithms string
	before     []kernelGap // of the page that is written
}

// gapSeed is that of all searches.
const gapSeed = 1

// gap compares the default schedule of each kernel of networks with the best that a search finds in its space.
func gap(ctx context.Context, args []string) error {
	var s gapSettings
	var out, only, on, page string
	networks, err := flags("gap", func(f *flag.FlagSet) {
		f.StringVar(&on, "target", "rpi3,rpi4", "targets")
		f.StringVar(&s.search, "search", "xgb", "what proposes schedules: xgb, random, ...")
		f.IntVar(&s.trials, "trials", 64, "schedules of each kernel, the default one included")
		f.StringVar(&s.dir, "dir", "build/gap", "folder of what is measured, TARGET.records, and of networks that are made")
		f.StringVar(&only, "only", ".", "kernels that are searched now, NETWORK:LAYER, a regular expression; of others what is known counts")
		f.BoolVar(&s.asItIs, "known", false, "search nothing: measure no more than default schedules, and compare them with what is known")
		f.StringVar(&s.algorithms, "by", "", "algorithm of the layers, instead of the cheapest by estimate")
		f.StringVar(&page, "page", "", "compare nothing: write NAME.md from NAME.json")
		f.StringVar(&out, "out", "", "write NAME.json and NAME.md, where targets and layers that are not named keep what they have")
	}, args)
	if err != nil {
		return err
	}
	if page != "" {
		all, err := readGaps(page)
		if err != nil {
			return err
		}
		return writeGaps(page, all)
	}
	if s.only, err = regexp.Compile(only); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	old, err := readGaps(out)
	if err != nil {
		return err
	}
	s.before = slices.Clone(old)
	everything := len(networks) == 0
	if everything {
		networks = gapNetworks()
	}
	for _, name := range strings.Split(on, ",") {
		t, err := targets.Lookup(name)
		if err != nil {
			return err
		}
		found, err := s.target(ctx, t, networks)
		old = slices.DeleteFunc(old, func(k kernelGap) bool {
			return k.Target == name && (everything || slices.ContainsFunc(found, k.shares))
		})
		old = append(old, found...)
		for _, k := range sortedGaps(found) {
			fmt.Println(k)
		}
		if out != "" {
			err = errors.Join(err, writeGaps(out, old))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// kernel is a Func of networks whose schedule has to be chosen.
type kernel struct {
	task    *space.Task
	names   []string // NETWORK:LAYER of all layers that have it
	network *autotune.Network
}

// target compares the kernels of networks on a target. If ctx ends on the way it gives what was found until then.
func (s gapSettings) target(ctx context.Context, t targets.Target, networks []string) (found []kernelGap, err error) {
	all, err := s.kernels(ctx, t, networks)
	if err != nil {
		return nil, err
	}
	run, err := runner.Open(ctx, ripc.RunnerFor(t), t, runner.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	for i, k := range all {
		fmt.Fprintf(os.Stderr, "%s: %d of %d, %s\n", t.Name, i+1, len(all), k.names[0])
		one, err := s.kernel(ctx, k, run)
		if err != nil {
			return found, fmt.Errorf("%s for %s: %w", k.names[0], t.Name, err)
		}
		if one != nil {
			found = append(found, *one)
		}
	}
	return found, nil
}

// kernels are the different ones of networks that compute sums: other stages have next to nothing that a schedule could change.
func (s gapSettings) kernels(ctx context.Context, t targets.Target, networks []string) ([]*kernel, error) {
	var all []*kernel
	for _, name := range networks {
		path, layer, _ := strings.Cut(name, ":")
		path, err := s.model(path)
		if err != nil {
			return nil, err
		}
		o := ripc.Options{Target: t.Name}
		if s.algorithms != "" && layer != "" {
			by, err := layout.ParseAlgorithm(s.algorithms)
			if err != nil {
				return nil, err
			}
			o.Algorithms = map[string]layout.Algorithm{layer: by}
		}
		c, err := ripc.Compile(ctx, path, o)
		if err != nil {
			return nil, err
		}
		n := &autotune.Network{Graph: c.Graph, Target: c.Target, Given: map[string]layout.Algorithm{}}
		met := layer == ""
		for i, stage := range c.Program.Stages {
			by, err := layout.ParseAlgorithm(stage.Layer.Algorithm.Name)
			if err != nil {
				continue // a stage that has none
			}
			n.Given[stage.Name] = by
			if layer != "" && layer != stage.Name {
				continue
			}
			met = true
			task := space.TaskOf(c.Program.FuncByName(stage.Func), t, stage, compile.StageConstants(c.Program, i))
			label := c.Program.Name + ":" + stage.Name
			if j := slices.IndexFunc(all, func(k *kernel) bool { return k.task.Workload.Key == task.Workload.Key }); j >= 0 {
				all[j].names = append(all[j].names, label)
				continue
			}
			all = append(all, &kernel{task, []string{label}, n})
		}
		if !met {
			return nil, fmt.Errorf("%s has no layer %s", path, layer)
		}
	}
	return all, nil
}

// model is the file of a network: a path, or the name of one of examples/networks, which is made unless it is there.
func (s gapSettings) model(name string) (string, error) {
	if strings.HasSuffix(name, ".json") || strings.Contains(name, "/") {
		return name, nil
	}
	n, err := zoo.Find(name)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.dir, name+".json")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	return n.Write(s.dir)
}

// kernel searches the space of k as far as the records do not have as many of its schedules, and says what is known of it; nil if that is
// nothing, and it is not to be searched now.
func (s gapSettings) kernel(ctx context.Context, k *kernel, run runner.Runner) (*kernelGap, error) {
	file := filepath.Join(s.dir, k.task.Target.Name+".records")
	known, err := records.Load(file)
	if err != nil {
		return nil, err
	}
	task := records.Task{Workload: k.task.Workload.Key, Target: k.task.Target.Name}
	machine := run.Machine()
	class := records.Class{CPU: machine.CPU, Simulated: machine.Simulated, Unit: run.Unit()}
	usual, err := compile.Default(k.task.Func, k.task.Target)
	if err != nil {
		return nil, err
	}
	trials := 1 // the default schedule, which may be another one than it was
	wanted := !s.asItIs && slices.ContainsFunc(k.names, s.only.MatchString)
	switch n := len(known.Of(task)); {
	case wanted && n < s.trials:
		trials = s.trials
	case !wanted && n == 0:
		return nil, nil
	}
	_, wasKnown := of(known.Ranked(task, class), usual.Trace)
	if !wasKnown || trials > 1 {
		layer := k.names[0][strings.LastIndex(k.names[0], ":")+1:]
		_, err := autotune.Tune(ctx, k.network, autotune.Options{Runner: run, Records: file, Trials: trials, Patience: s.trials, Search: s.search, Seed: gapSeed, Layers: []string{layer}})
		if err != nil {
			return nil, err
		}
		if known, err = records.Load(file); err != nil {
			return nil, err
		}
	}
	ranked := known.Ranked(task, class)
	d, ok := of(ranked, usual.Trace)
	if !ok {
		return nil, fmt.Errorf("nothing is known of the default schedule, %s %s", usual.Strategy, usual.Values)
	}
	g := &kernelGap{Target: k.task.Target.Name, Layers: k.names, Shape: d.Workload.Shape, Algorithm: k.task.Algorithm, Unit: string(class.Unit), Searches: searchesOf(known.Of(task))}
	g.Default, g.Best = pointOf(d), pointOf(ranked[0])
	if g.Mark = provenance.Now().On(class.CPU); class.Simulated {
		g.Mark = g.Estimated(class.CPU)
	}
	if wasKnown { // the record says when, the page before of which code
		g.Date, _, _ = strings.Cut(d.Origin.Time, "T")
		g.Commit = ""
		for _, old := range s.before {
			if old.shares(*g) && old.Target == g.Target && old.Algorithm == g.Algorithm && old.Default.Cost == g.Default.Cost {
				g.Mark = old.Mark
			}
		}
	}
	return g, nil
}

// of is the record of a schedule.
func of(all []records.Record, t schedule.Trace) (records.Record, bool) {
	for _, r := range all {
		if slices.Equal(r.Candidate.Trace, t.Lines()) {
			return r, true
		}
	}
	return records.Record{}, false
}

// searchesOf counts the schedules that each search has proposed, those that could not be built included.
func searchesOf(all []records.Record) map[string]int {
	n, seen := map[string]int{}, map[string]bool{}
	for _, r := range all {
		key := r.Candidate.Key()
		if r.Origin.Tuner != "default" && !seen[key] { // which may have been timed again
			n[r.Origin.Tuner]++
		}
		seen[key] = true
	}
	return n
}
