package emit

import (
	"fmt"

	"ripc/ir/size"
)

// spread records how many instructions come from copying, by loop, so that an oversized kernel can
// name the one.
type spread struct {
	loops []*copied
	open  []*copied
}

// copied is a loop whose body was emitted several times.
type copied struct {
	name   string
	extent int
	how    string // "unrolled" or "vectorized"
	total  int    // instructions, all copies together
	start  int
}

// enter says that copies of a loop's body begin.
func (e *emitter) enter(name, how string, extent int) {
	for _, c := range e.spread.open {
		if c.name == name { // lanes within lanes: counted once
			e.spread.open = append(e.spread.open, &copied{name: name, extent: 1})
			return
		}
	}
	var c *copied
	for _, d := range e.spread.loops {
		if d.name == name {
			c = d
		}
	}
	if c == nil {
		c = &copied{name: name, how: how, extent: extent}
		e.spread.loops = append(e.spread.loops, c)
	}
	c.start = e.count
	e.spread.open = append(e.spread.open, c)
}

// leave says that they end.
func (e *emitter) leave() {
	last := len(e.spread.open) - 1
	if last < 0 {
		return // tooLarge closed them all
	}
	c := e.spread.open[last]
	c.total += e.count - c.start
	e.spread.open = e.spread.open[:last]
}

// tooLarge gives up and names the loop that would save the most instructions if it were not copied.
func (e *emitter) tooLarge() {
	for len(e.spread.open) > 0 {
		e.leave()
	}
	var worst *copied
	for _, c := range e.spread.loops {
		if worst == nil || c.saving() > worst.saving() {
			worst = c
		}
	}
	if worst == nil {
		panic(abort{&SizeError{e.error("", "", "needs more than %d LLVM instructions", size.Max)}})
	}
	help := "unroll it less: split it and unroll only the inner part"
	if worst.how == "vectorized" {
		help = "its lanes go one by one here; make their addresses contiguous, or vectorize another loop"
	}
	panic(abort{&SizeError{e.error(fmt.Sprintf("loop %%%s", worst.name), help, "needs more than %d LLVM instructions; %s loop %%%s (extent %d) makes %d of them",
		size.Max, worst.how, worst.name, worst.extent, worst.total)}})
}

func (c *copied) saving() int {
	if c.extent == 0 {
		return 0
	}
	return c.total - c.total/c.extent
}
