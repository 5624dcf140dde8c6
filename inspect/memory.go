package inspect

import (
	"cmp"
	"fmt"
	"slices"

	"ripc/codegen"
	"ripc/compile"
	"ripc/internal/abi"
	"ripc/internal/human"
	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
	"ripc/targets"
)

// Workspace is the memory that a caller gives a network to work in, beside its inputs and outputs.
// Threads share the arena. Each thread has scratch memory of its own.
type Workspace struct {
	WorkspaceBytes int64 `json:"workspace_bytes"` // of one thread: arena and scratch memory
	ArenaBytes     int64 `json:"arena_bytes"`     // for activations
	// ScratchBytes is the memory for buffers of a kernel that are too large for the stack.
	ScratchBytes int64 `json:"scratch_bytes"`
	// RAMBytes is the RAM that a chip without an operating system needs for workspace, inputs and
	// outputs; 0 for other targets. The stack and the program's own data come on top
	// (engine.Footprint).
	RAMBytes int64 `json:"ram_bytes,omitempty"`
}

// String describes the workspace, in the words of all commands and pages.
func (w Workspace) String() string {
	text := fmt.Sprintf("workspace %s (activations %s, scratch memory %s for each thread)",
		human.Bytes(w.WorkspaceBytes), human.Bytes(w.ArenaBytes), human.Bytes(w.ScratchBytes))
	if w.RAMBytes > 0 {
		text += fmt.Sprintf(", with inputs and outputs %s of RAM beside the stack", human.Bytes(w.RAMBytes))
	}
	return text
}

// workspaceOf computes the workspace from an artifact's description. c is nil if the artifact was
// read from a file.
func workspaceOf(d *describe.Artifact, c *compile.Compiled) Workspace {
	a := *d
	if c != nil { // before code is generated, the description lacks it
		for _, f := range c.Scheduled.Funcs {
			a.ScratchBytes = max(a.ScratchBytes, abi.RoundUp(codegen.Layout(f).Scratch))
		}
	}
	w := Workspace{WorkspaceBytes: a.WorkspaceBytes(1), ArenaBytes: a.ArenaBytes, ScratchBytes: a.ScratchBytes}
	if t, err := targets.Lookup(a.Target); err == nil && t.Bare {
		w.RAMBytes = w.WorkspaceBytes
		for _, t := range slices.Concat(a.Inputs, a.Outputs) {
			if n, err := runtime.TensorBytes(t); err == nil {
				w.RAMBytes += int64(n)
			}
		}
	}
	return w
}

// Memory is the workspace of a network, with the place and the lifetime of each activation in the
// arena.
type Memory struct {
	Workspace
	// LowerBound is the largest need of a stage. No placement of the same tensors takes less.
	LowerBound int64         `json:"lower_bound_bytes"`
	Peak       int           `json:"peak_stage"` // the first stage that needs so much
	Stages     []StageMemory `json:"stages"`
	// Arena lists the tensors in the order of their first use.
	Arena []ArenaUse `json:"arena"`
	// FloatTwin is the memory of the float network of the same layers, if that was asked for; nil
	// with the reason in NoTwin.
	FloatTwin *Memory `json:"float_twin,omitempty"`
	NoTwin    string  `json:"no_float_twin,omitempty"`
}

// StageMemory is the arena memory that a stage needs: for its inputs and outputs, and for tensors
// that later stages read.
type StageMemory struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

// ArenaUse is a tensor's place in the arena, and the first and last stage that need it.
type ArenaUse struct {
	Name   string `json:"name"`
	Offset int64  `json:"offset"`
	Bytes  int64  `json:"bytes"`
	First  int    `json:"first"`
	Last   int    `json:"last"`
	// Over is the tensor that stage First overwrites with this one; "" for none.
	Over string `json:"over,omitempty"`
}

// isLive reports whether the tensor is needed in a stage.
func (u ArenaUse) isLive(stage int) bool { return u.First <= stage && stage <= u.Last }

// memoryOf computes the memory from an artifact's description. c is nil if the artifact was read
// from a file.
func memoryOf(d *describe.Artifact, c *compile.Compiled) *Memory {
	m := &Memory{Workspace: workspaceOf(d, c), Stages: []StageMemory{}, Arena: arenaUses(d.Stages)}
	next := 0
	var live []ArenaUse // in the stage; m.Arena is in the order of first stages
	for i, s := range d.Stages {
		live = slices.DeleteFunc(live, func(u ArenaUse) bool { return !u.isLive(i) })
		for ; next < len(m.Arena) && m.Arena[next].First == i; next++ {
			live = append(live, m.Arena[next])
		}
		n := coveredBytes(live)
		m.Stages = append(m.Stages, StageMemory{s.Layer.Title(s.Name), n})
		if n > m.LowerBound {
			m.LowerBound, m.Peak = n, i
		}
	}
	return m
}

// coveredBytes returns the number of bytes that overlapping tensors take together.
func coveredBytes(uses []ArenaUse) (n int64) {
	slices.SortFunc(uses, func(a, b ArenaUse) int { return cmp.Compare(a.Offset, b.Offset) })
	end := int64(0)
	for _, u := range uses {
		last := u.Offset + abi.RoundUp(u.Bytes)
		n += max(0, last-max(end, u.Offset))
		end = max(end, last)
	}
	return n
}

// arenaUses returns the place and the lifetime of each tensor in the arena.
func arenaUses(stages []describe.Stage) []ArenaUse {
	list := []ArenaUse{}
	at := map[string]int{}
	for i, s := range stages {
		read := map[int64]string{} // by offset
		for _, t := range s.Reads {
			if t.Where == ir.ArenaBuf.String() {
				read[t.Offset] = t.Title()
			}
		}
		for _, t := range slices.Concat(s.Reads, s.Writes) {
			n, err := runtime.OperandBytes(t)
			if t.Where != ir.ArenaBuf.String() || err != nil {
				continue
			}
			k, known := at[t.Name]
			if !known {
				k = len(list)
				at[t.Name] = k
				list = append(list, ArenaUse{Name: t.Title(), Offset: t.Offset, Bytes: int64(n), First: i,
					Over: read[t.Offset]})
			}
			list[k].Last = i
		}
	}
	return list
}
