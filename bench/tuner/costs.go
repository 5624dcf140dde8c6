package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"ripc/autotune/space"
	"ripc/compile"
	"ripc/engine"
	"ripc/engine/simulate"
	"ripc/measure"
)

// timing is the budget for some thousand runs of a kernel of less than 0.1 ms. The fastest runs
// count.
func timing() measure.Budget {
	return measure.Budget{Runs: 20, Time: 100 * time.Millisecond, Few: 3, Limit: 30 * time.Second}
}

// costs are the costs of a task's candidates, in a file of lines "KEY COST". So all searches see
// the same costs, and an interrupted comparison continues. A cost is the estimated cycles of a
// simulated core, which depend on the candidate alone, or nanoseconds on this machine. 0 marks a
// candidate that cannot be built.
type costs struct {
	task *task

	timingLock sync.Mutex // guards timed runs

	mu    sync.Mutex
	known map[string]float64
	file  *os.File
}

// openCosts reads the file of a task in a folder.
func openCosts(dir string, t *task) (*costs, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, t.Name+".txt"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	c := &costs{task: t, known: map[string]float64{}, file: f}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		key, text, ok := strings.Cut(lines.Text(), " ")
		cost, err := strconv.ParseFloat(text, 64)
		if !ok || err != nil || len(key) != keyLength {
			continue // a line that was cut off
		}
		c.known[key] = cost
	}
	return c, lines.Err()
}

const keyLength = 16

// keyOf names a candidate of one task.
func keyOf(c space.Candidate) string {
	sum := sha256.Sum256([]byte(c.Key()))
	return hex.EncodeToString(sum[:])[:keyLength]
}

// cost returns the cost of a candidate; 0 if it cannot be built.
func (c *costs) cost(ctx context.Context, x space.Candidate) (float64, error) {
	key := keyOf(x)
	c.mu.Lock()
	cost, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return cost, nil
	}
	cost, err := c.measure(ctx, x)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[key]; ok {
		return cost, nil
	}
	c.known[key] = cost
	_, err = fmt.Fprintf(c.file, "%s %.0f\n", key, cost)
	return cost, err
}

func (c *costs) measure(ctx context.Context, x space.Candidate) (float64, error) {
	t := c.task.space.Task
	u, err := compile.Kernel(ctx, t.Func, x.Trace, t.Target, compile.KernelOptions{Stage: t.Stage})
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		return 0, nil // too much code, say
	}
	if !c.task.isSimulated() {
		c.timingLock.Lock()
		defer c.timingLock.Unlock()
		m, err := u.Measure(ctx, 1, timing())
		if err != nil {
			return 0, err
		}
		return m.Cost(), nil
	}
	e, err := u.Open(engine.Options{Threads: 1, Simulate: true, Count: true})
	if err != nil {
		return 0, err
	}
	done, err := e.Run(ctx, []engine.Job{{Last: 1, Inputs: u.Inputs(0)}})
	if err = errors.Join(err, e.Close()); err != nil {
		return 0, err
	}
	n := done[0].Counters
	return n.Estimate.Cycles, n.Estimate.Why
}

// isSimulated says that costs are estimated cycles.
func (t *task) isSimulated() bool { return simulate.Supports(t.space.Task.Target.Arch) }

func (c *costs) close() error { return c.file.Close() }
