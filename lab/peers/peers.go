// Package peers measures ripc on layers and networks beside other engines on the same ones, and
// beside the limits of the machine, which it measures in the same turns. README.md has the list and
// the method.
package peers

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"ripc"
	"ripc/caches"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/measure/limits"
)

// bench has the flags and the settings of workers.
type bench struct {
	name    string // of the task
	peers   bool   // other engines than ripc
	setUp   bool
	turns   int
	time    time.Duration // of an engine's turn
	threads []int
	dir     string   // everything that is not ripc's, outside the tree
	python  string   // "" finds one
	boards  []string // targets, in the place of this machine
	own     []string // files of the user, in the place of the subjects
	inputs  []string // .npy files, one for each input; none is the picture, and no labels
	labels  string
	worker  string // a model: this process is ripc's worker
	self    string
	lacking map[string]string // environments that are not there, and why
	engines []string          // versions of the others
}

// scripts is the folder of the Python programs.
const scripts = "lab/peers/python"

func (b *bench) models() string { return filepath.Join(b.dir, "models") }

// OwnTask returns the task that measures ripc alone.
func OwnTask() *task.Task {
	b := &bench{name: "bench"}
	t := b.task()
	t.Dir, t.Short = "build/bench", "ripc's layers and networks beside the machine's limits: build/bench"
	t.Pages = pages("build/bench/bench", nil)
	return t
}

// Task returns the task that measures all engines.
func Task() *task.Task {
	b := &bench{name: "peers", peers: true}
	t := b.task()
	t.Short = "the same beside onnxruntime, LiteRT, Larq and TVM: docs/bench-peers.md, and the README's part"
	t.Pages = pages("docs/bench-peers", (*results).frontPages)
	flags := t.Flags
	t.Flags = func(f *pflag.FlagSet) {
		flags(f)
		f.BoolVar(&b.setUp, "setup", false, "only install the other engines and make their models")
		f.StringSliceVar(&b.boards, "board", nil, "estimate cycles on these `targets`, under qemu")
		f.StringSliceVar(&b.own, "model", nil, "compare the engines on these `files` alone, and write no page")
		f.StringSliceVar(&b.inputs, "inputs", nil, "a .npy `file` for each input of --model, which also calibrate int8")
		f.StringVar(&b.labels, "labels", "", "a .npy `file` with the class of each of --inputs")
		f.StringVar(&b.python, "python", "", "the Python to make environments with, where there is no uv")
	}
	return t
}

// task returns the parts that both tasks share.
func (b *bench) task() *task.Task {
	return &task.Task{
		Name: b.name, Code: []string{"lab/peers", "measure/limits"},
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(&b.turns, "turns", 6, "turns of each engine")
			f.DurationVar(&b.time, "time", 60*time.Millisecond, "time of a turn, at least one run")
			f.IntSliceVar(&b.threads, "threads", []int{1, 2}, "numbers of threads")
			f.StringVar(&b.dir, "dir", "", "folder of the other engines and of models for them; peers below "+
				"RIPC_CACHE_DIR or ~/.cache/ripc")
			f.StringVar(&b.worker, "worker", "", "run this model on command")
			_ = f.MarkHidden("worker") // the program starts itself with it
		},
		Before: b.prepare, Cases: b.cases,
		Versions: func(context.Context) ([]string, error) {
			return append([]string{"ripc " + ripc.Version}, b.engines...), nil
		},
	}
}

// prepare serves as a worker, or installs the other engines.
func (b *bench) prepare(ctx context.Context, _ *regexp.Regexp, out io.Writer) (done bool, err error) {
	if b.worker != "" {
		return true, serve(ctx, b.worker, b.threads[0], os.Stdin, out)
	}
	if b.turns < 1 {
		return false, fmt.Errorf("--turns %d: give at least 1", b.turns)
	}
	for _, n := range b.threads {
		if n < 1 || n > runtime.NumCPU() {
			return false, fmt.Errorf("--threads %d: give numbers from 1 to %d", n, runtime.NumCPU())
		}
	}
	if b.self, err = os.Executable(); err != nil {
		return false, err
	}
	if b.dir == "" {
		cache, err := caches.Root()
		if err != nil {
			return false, fmt.Errorf("no place for the other engines, give --dir: %w", err)
		}
		b.dir = filepath.Join(cache, "peers")
	}
	if !b.peers {
		return false, nil
	}
	if len(b.own) > 0 {
		if err := b.setUpReaders(ctx); err != nil {
			return true, err
		}
		return true, b.compareModels(ctx, out)
	}
	cmd := exec.CommandContext(ctx, "scripts/setup-peers.sh", b.dir, b.python)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return false, fmt.Errorf("scripts/setup-peers.sh: %w", err)
	}
	if len(b.boards) > 0 {
		cmd := exec.CommandContext(ctx, "scripts/setup-arm64.sh", filepath.Join(b.dir, arm64), "-r",
			filepath.Join(scripts, "requirements-"+boardEnv+".txt"))
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return false, fmt.Errorf("scripts/setup-arm64.sh: %w", err)
		}
	}
	if b.setUp {
		_, err := out.Write(text)
		return true, err
	}
	b.lacking = map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, why, ok := strings.Cut(strings.TrimPrefix(line, "lacking "), ": "); ok {
			b.lacking[name] = why
		} else {
			b.engines = append(b.engines, line)
		}
	}
	return false, nil
}

// cases are all subjects with each number of threads; without peers, with ripc's own entries alone.
func (b *bench) cases(context.Context, *regexp.Regexp) (all []task.Case, err error) {
	if len(b.boards) > 0 {
		return b.boardCases()
	}
	for _, s := range subjects() {
		if !b.peers {
			s.Entries = slices.DeleteFunc(s.Entries, func(e Entry) bool { return e.Env != "" })
		}
		for _, n := range b.threads {
			all = append(all, task.Case{Key: figures.Key{Subject: s.Name, Threads: n},
				Measure: func(ctx context.Context, _ figures.Mark) ([]figures.Figure, error) {
					return b.measure(ctx, s, n)
				}})
		}
	}
	return all, nil
}

// pages returns the function that writes NAME.md and NAME.svg.
func pages(name string, more func(*results, string) (map[string]string,
	error)) func(string, *figures.Store) (map[string]string, error) {
	return func(root string, s *figures.Store) (map[string]string, error) {
		r, err := resultsOf(s)
		if err != nil {
			return nil, err
		}
		all := map[string]string{}
		if more != nil {
			if all, err = more(r, root); err != nil {
				return nil, err
			}
		}
		path := filepath.Join(root, name)
		all[path+".md"], all[path+".svg"] = r.page(filepath.Base(name)), r.bars()
		return all, nil
	}
}

// resultsOf returns the figures of a store with their subjects.
func resultsOf(s *figures.Store) (*results, error) {
	kernels, err := limits.Kernels()
	return &results{s, subjects(), kernels}, err
}
