package driver_test

import (
	"fmt"
	"testing"
)

// most bounds the threads of a model, and the units of all of its stages.
const most = 3

// state is a moment of a run: ripc_sync, the units that were begun and done, and the threads. The model follows the labels of
// share, open and wait in driver.ll. Each transition is one access of memory that threads share.
type state struct {
	entered, left, units, gate, asleep int8
	claims                             [most]word
	begun, done                        uint32 // bit 8*stage+unit
	threads                            [most]thread
	run                                int8  // number of the run under way
	seats                              uint8 // bit tid
}

type word struct{ stage, limit, next int8 }

type thread struct {
	at         label
	runs       int8 // that are not ended
	e, g, i, c int8 // as in driver.ll
	s          int8 // of a claimed unit, or of the stage to be opened
	v          int8 // the word that open writes next
	w          word // that was read
}

type label int8

const (
	enter label = iota
	count
	openUnits
	openOthers
	openZero
	openCount
	openWake
	round
	look
	offer
	run
	tell
	idle
	wait
	sleep
	compare
	blocked
	awake
	leave
	resetLeft
	resetWord
	resetEntered
	resetOthers
	resetZero
	ended
)

// model is a network's stages with the units of a thread's part, 0 of one unit for all threads, and the calls of each thread.
type model struct {
	n      int8
	stages []int8
	calls  []span
}

// span is the range of stages of a call.
type span struct{ first, last int8 }

// runs returns n calls of all stages.
func runs(n int, stages ...int8) (calls []span) {
	for range n {
		calls = append(calls, span{0, int8(len(stages))})
	}
	return calls
}

// call returns the number of a thread's call.
func (m model) call(th *thread) int8 { return int8(len(m.calls)) - th.runs }

// parts returns the number of units of a stage.
func (m model) parts(s int8) int8 {
	if m.stages[s] == 0 {
		return 1
	}
	return m.n * m.stages[s]
}

// all has the bits of the units of the stages from r.first to s-1.
func (m model) all(r span, s int8) (bits uint32) {
	for k := r.first; k < s; k++ {
		bits |= (1<<m.parts(k) - 1) << (8 * k)
	}
	return bits
}

// limits returns the units of the words of thread 0 and of the others in stage s of r.
func (m model) limits(r span, s int8) (zero, others int8) {
	switch {
	case s == r.last:
		return 0, 0
	case m.stages[s] == 0:
		return 1, 0
	}
	return m.stages[s], m.stages[s]
}

// step returns the state after the next access of thread t. ok is false if t sleeps or has ended.
func (m model) step(s state, t int8) (_ state, ok bool, err error) {
	th := &s.threads[t]
	var r span // of the call; none once it has left
	if th.runs > 0 {
		r = m.calls[m.call(th)]
	}
	to := func(l label) { th.at = l }
	open := func(stage int8) { th.s, th.v = stage, m.n-1; to(openUnits) }
	switch th.at {
	case enter:
		if s.seats&(1<<t) == 0 {
			s.seats |= 1 << t
			to(count)
		}
	case count:
		th.e = s.entered
		s.entered++
		if to(round); th.e == 0 {
			open(r.first)
		}
	case openUnits:
		if s.units = 0; th.s < r.last {
			s.units = m.parts(th.s)
		}
		if to(openOthers); m.n == 1 {
			to(openZero)
		}
	case openOthers:
		_, others := m.limits(r, th.s)
		s.claims[th.v] = word{th.s, others, 0}
		if th.v--; th.v == 0 {
			to(openZero)
		}
	case openZero:
		zero, _ := m.limits(r, th.s)
		s.claims[0] = word{th.s, zero, 0}
		to(openCount)
	case openCount:
		s.gate++
		to(openWake)
	case openWake:
		if s.asleep > 0 {
			for k := range s.threads {
				if s.threads[k].at == blocked {
					s.threads[k].at = awake
				}
			}
		}
		to(round)
	case round:
		th.g, th.i, th.c = s.gate, 0, 0
		to(look)
	case look:
		th.w = s.claims[(t+th.i)%m.n]
		if th.w.next < th.w.limit {
			to(offer)
		} else if th.i++; th.i == m.n {
			if to(idle); th.c > 0 {
				to(tell)
			}
		}
	case offer:
		at := &s.claims[(t+th.i)%m.n]
		if *at != th.w {
			to(look)
			break
		}
		at.next++
		th.s = th.w.stage
		unit := (t+th.i)%m.n*th.w.limit + th.w.next
		bit := uint32(1) << (8*th.s + unit)
		switch {
		case s.begun&bit != 0:
			return s, false, fmt.Errorf("unit %d of stage %d runs twice", unit, th.s)
		case s.done&m.all(r, th.s) != m.all(r, th.s):
			return s, false, fmt.Errorf("stage %d begins before those in front of it are done", th.s)
		case s.begun&^m.all(r, th.s+1) != 0:
			return s, false, fmt.Errorf("stage %d goes on behind a later one", th.s)
		}
		s.begun |= bit
		th.w.next = unit
		to(run)
	case run:
		s.done |= 1 << (8*th.s + th.w.next)
		th.c++
		to(look)
	case tell:
		s.units -= th.c
		if to(idle); s.units == 0 {
			open(th.s + 1)
		}
	case idle:
		if to(wait); s.claims[0].stage == r.last {
			to(leave)
		}
	case wait:
		if to(sleep); s.gate != th.g {
			to(round)
		}
	case sleep:
		s.asleep++
		to(compare)
	case compare: // the kernel does it and puts the thread to sleep at once
		if to(blocked); s.gate != th.g {
			to(awake)
		}
	case blocked, ended:
		return s, false, nil
	case awake:
		s.asleep--
		to(wait)
	case leave:
		if s.done != m.all(r, r.last) {
			return s, false, fmt.Errorf("a thread leaves before all stages are done")
		}
		if m.call(th) != s.run {
			return s, false, fmt.Errorf("call %d of thread %d leaves in run %d", m.call(th), t, s.run)
		}
		s.left++
		th.runs--
		switch {
		case s.left == m.n:
			to(resetLeft)
		case th.runs > 0:
			to(enter)
		default:
			to(ended)
		}
	case resetLeft:
		s.left = 0
		to(resetWord)
	case resetWord:
		s.claims[0] = word{}
		to(resetEntered)
	case resetEntered:
		s.entered, s.begun, s.done = 0, 0, 0
		s.run++
		to(resetOthers)
	case resetOthers: // the seats have two words here, with two bits in the first
		s.seats &= 3
		to(resetZero)
	case resetZero:
		s.seats &^= 3
		if to(ended); th.runs > 0 {
			to(enter)
		}
	}
	th.forget()
	return s, true, nil
}

// forget clears the registers that the next labels do not read, so that fewer states differ.
func (th *thread) forget() {
	switch th.at {
	case enter, leave, ended, resetLeft, resetWord, resetEntered, resetOthers, resetZero:
		*th = thread{at: th.at, runs: th.runs}
	case round, openUnits, openCount, openWake, openZero, openOthers:
		th.e, th.g, th.i, th.c, th.w = 0, 0, 0, 0, word{}
		if th.at == round {
			th.s, th.v = 0, 0
		}
	case look, tell:
		th.e, th.w = 0, word{}
	case wait, sleep, compare, blocked, awake, idle:
		*th = thread{at: th.at, runs: th.runs, g: th.g}
	}
}

// TestModel goes through all orders in which threads can access ripc_sync: each unit runs once and in the order of the stages,
// no thread sleeps on, and each call leaves in its own run, whether the calls run all stages or some.
func TestModel(t *testing.T) {
	for _, c := range []model{
		{2, []int8{1}, runs(3, 1)},
		{2, []int8{0, 2}, runs(2, 0, 2)},
		{2, []int8{2, 0, 0, 1}, runs(2, 2, 0, 0, 1)},
		{2, []int8{3, 2}, runs(1, 3, 2)},
		{2, []int8{1, 1}, []span{{0, 1}, {1, 2}, {0, 2}}},
		{2, []int8{0, 1, 1}, []span{{1, 3}, {0, 1}, {0, 1}, {2, 3}}},
		{3, []int8{0, 1}, runs(1, 0, 1)},
		{3, []int8{1, 0}, runs(1, 1, 0)},
		{3, []int8{0}, runs(2, 0)},
		{3, []int8{0, 0}, []span{{0, 1}, {1, 2}}},
	} {
		var first state
		for k := range c.n {
			first.threads[k].runs = int8(len(c.calls))
		}
		for k := c.n; k < most; k++ {
			first.threads[k].at = ended
		}
		seen, todo := map[state]bool{first: true}, []state{first}
		for len(todo) > 0 {
			s := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			moved, over := false, true
			for k := range c.n {
				over = over && s.threads[k].at == ended
				next, ok, err := c.step(s, k)
				if err != nil {
					t.Fatalf("%+v: %v\n%+v", c, err, s)
				}
				if !ok {
					continue
				}
				moved = moved || next != s
				if !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
			if !moved && !over {
				t.Fatalf("%+v: all threads sleep\n%+v", c, s)
			}
		}
		t.Logf("%+v: %d states", c, len(seen))
	}
}
