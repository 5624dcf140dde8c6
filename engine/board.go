package engine

import (
	"context"
	"errors"

	"ripc/engine/bareboard"
	"ripc/engine/estimate"
	"ripc/engine/simulate"
)

// Footprint is the memory, in bytes, of a program as it was linked.
type Footprint = bareboard.Footprint

// FootprintOf returns the footprint of the program that e runs, if it is a program for a board. Its
// Stack is the maximum over all runs so far.
func FootprintOf(e Engine) (f Footprint, ok bool) {
	if t, wrapped := e.(*temporary); wrapped {
		e = t.Engine
	}
	r, ok := e.(*remote)
	if !ok {
		return f, false
	}
	b, ok := r.m.(board)
	if ok {
		f = b.Footprint()
		f.Board, f.Stack = b.Board().Title, int64(r.stack)
	}
	return f, ok
}

// board is a simulated board as a Far. It is switched on for each batch.
type board struct{ *bareboard.Machine }

func (board) Close() error { return nil }

var errNoProfile = errors.New("the board's timer counts instructions, and cannot tell which they were")

func openBoard(path string, o Options) (Engine, error) {
	if o.Threads != 1 {
		return nil, &ThreadsError{Threads: o.Threads, Most: 1,
			Why: "a board without an operating system has one thread"}
	}
	m, err := bareboard.Open(path, bareboard.Options{Count: o.Count})
	if err != nil {
		return nil, err
	}
	b := &remote{batches: batches{o: o}, kind: Simulated, m: board{m}, noCycles: errNoProfile}
	if !o.Count || !o.Cycles {
		return b, nil
	}
	core, err := estimate.TimingsOf(m.Description().Target)
	if err == nil {
		err = m.Profile()
	}
	if b.noCycles = err; err != nil { // then instructions are counted all the same
		return b, nil
	}
	b.model = Estimate{Model: core.Core, Manual: core.Manual}
	var listing []byte
	b.cycles = func(ctx context.Context, profiles []*simulate.Profile) (_ []estimate.Cycles, err error) {
		if listing == nil {
			listing, err = m.Listing(ctx)
		}
		if err != nil {
			return nil, err
		}
		return core.Jobs(listing, profiles)
	}
	return b, nil
}
