package emit

import (
	"fmt"
	"slices"

	"ripc/codegen"
	"ripc/ir/size"
)

// spread attributes the instructions of copied bodies to their loops, so that the error about an
// oversized kernel can name one.
type spread struct {
	loops     []*copiedLoop
	openLoops []*copiedLoop
}

// copiedLoop is a loop with a body that was emitted several times.
type copiedLoop struct {
	name   string
	extent int
	how    string // "unrolled" or "vectorized"
	total  int    // instructions, all copies together
	start  int
}

// enter opens the scope of a loop's copies.
func (e *emitter) enter(name, how string, extent int) {
	for _, c := range e.spread.openLoops {
		if c.name == name { // lanes within lanes: counted once
			e.spread.openLoops = append(e.spread.openLoops, &copiedLoop{name: name, extent: 1})
			return
		}
	}
	i := slices.IndexFunc(e.spread.loops, func(c *copiedLoop) bool { return c.name == name })
	if i < 0 {
		i = len(e.spread.loops)
		e.spread.loops = append(e.spread.loops, &copiedLoop{name: name, how: how, extent: extent})
	}
	c := e.spread.loops[i]
	c.start = e.count
	e.spread.openLoops = append(e.spread.openLoops, c)
}

// leave closes it.
func (e *emitter) leave() {
	last := len(e.spread.openLoops) - 1
	if last < 0 {
		return // failTooLarge closed all scopes
	}
	c := e.spread.openLoops[last]
	c.total += e.count - c.start
	e.spread.openLoops = e.spread.openLoops[:last]
}

// failTooLarge gives up. It names the loop that would save the most instructions if it were not
// copied.
func (e *emitter) failTooLarge() {
	for len(e.spread.openLoops) > 0 {
		e.leave()
	}
	var worst *copiedLoop
	for _, c := range e.spread.loops {
		if worst == nil || c.saving() > worst.saving() {
			worst = c
		}
	}
	if worst == nil {
		panic(abort{&codegen.SizeError{Err: e.error("", "", "needs more than %d LLVM instructions", size.Max)}})
	}
	help := "unroll it less: split it and unroll only the inner part"
	if worst.how == "vectorized" {
		help = "its lanes go one by one here; make their addresses contiguous, or vectorize another loop"
	}
	panic(abort{&codegen.SizeError{Err: e.error(fmt.Sprintf("loop %%%s", worst.name), help,
		"needs more than %d LLVM instructions; %s loop %%%s (extent %d) makes %d of them",
		size.Max, worst.how, worst.name, worst.extent, worst.total)}})
}

func (c *copiedLoop) saving() int {
	if c.extent == 0 {
		return 0
	}
	return c.total - c.total/c.extent
}
