package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"ripc/engine"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/runtime/describe"
)

// verifier is one call of Verify.
type verifier struct {
	in       Input
	e        engine.Engine
	set      Set // of in.Inputs and in.More, the one that runs
	walk     walk
	tensors  map[string]describe.Tensor // operands of stages, by name
	report   *Report
	compiled map[*ir.Func]*interp.Compiled
}

// run interprets the Program, and has the artifact do each stage right after the interpreter did
// it.
func (v *verifier) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	outputs, err := interp.RunProgram(ctx, v.in.Program, v.set.Inputs, interp.Options{
		Progress: v.in.Progress,
		Observe: func(i int, _ string, ref map[string][]byte) {
			if ctx.Err() != nil {
				return
			}
			if err := v.stage(ctx, i, ref); err != nil {
				if v.noteCrash(i, err) {
					err = errCrashed
				}
				cancel(err) // ends RunProgram in its next stage
			}
		},
	})
	if cause := context.Cause(ctx); errors.Is(cause, errCrashed) {
		return nil
	} else if cause != nil {
		return cause
	}
	if err != nil {
		return fmt.Errorf("interpreting %s: %w", v.in.Program.Name, err)
	}
	got, err := v.network(ctx)
	if v.noteCrash(len(v.in.Program.Stages), err) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(v.report.Network) > 0 {
		return nil // as earlier inputs have shown
	}
	i := 0
	for _, b := range v.in.Program.Buffers {
		if b.Kind == ir.OutputBuf {
			wrote := clearUnwritten(b.Buffer, got[i], outputs[i])
			if d, ok := compare(b.Buffer, wrote, outputs[i], false); !ok {
				d.Inputs, d.Where = v.set.Name, locate(v.tensors[b.Name], b.Buffer, wrote, outputs[i])
				v.report.Network = append(v.report.Network, d)
			}
			i++
		}
	}
	return nil
}

// networkFill is the pattern of memory for the network as a whole: another one than for the stages.
const networkFill = 2

// clearUnwritten copies got, and sets elements that neither side wrote to Poison. A layer that
// fills a part of an output, built by itself, does not write the rest. There the interpreter has
// Poison, and the artifact its pattern.
func clearUnwritten(b ir.Buffer, got, want []byte) []byte {
	n := max(1, b.Type.Bits()/8)
	before, poison := engine.Pattern(make([]byte, len(got)), networkFill), bytes.Repeat([]byte{interp.Poison}, n)
	got = bytes.Clone(got)
	for i := 0; i+n <= len(want); i += n {
		if bytes.Equal(want[i:i+n], poison) && bytes.Equal(got[i:i+n], before[i:i+n]) {
			copy(got[i:i+n], poison)
		}
	}
	return got
}

// errCrashed ends a run after its Crash was reported.
var errCrashed = errors.New("crashed")

// network runs everything at once, among other rubbish than the stages one by one, and returns the
// outputs.
func (v *verifier) network(ctx context.Context) ([][]byte, error) {
	n := len(v.in.Program.Stages)
	var results []engine.Result
	err := v.watch(v.e.Kind(), n, func() (err error) {
		results, err = v.e.Run(ctx, []engine.Job{{Inputs: v.set.Inputs, Fill: networkFill, Last: n, Outputs: true}})
		return err
	})
	if err != nil {
		return nil, err
	}
	return results[0].Outputs, nil
}

// at returns the contents of a buffer of the Program.
func (v *verifier) at(m *engine.Memory, b *ir.ProgBuf) []byte {
	if b.Kind == ir.ConstBuf {
		return b.Data
	}
	return m.At(v.tensors[b.Name])
}

// stage lets the artifact run stage i and judges the result. ref has the state of the interpreter's
// own run.
func (v *verifier) stage(ctx context.Context, i int, ref map[string][]byte) error {
	before, after, err := v.step(ctx, i)
	if err != nil {
		return err
	}
	p := v.in.Program
	s := p.Stages[i]
	f := p.FuncByName(s.Func)
	r := &v.report.Stages[i]
	if r.Ran && len(r.Differences)+len(r.Stray) > 0 {
		return nil // as earlier inputs have shown
	}
	r.Ran = true
	if !v.agrees(f, s, before, after, ref) {
		want, err := v.interpretStage(ctx, p, f, s, before)
		if err != nil {
			return err
		}
		r.Differences = v.differences(f, s, after, want)
		if len(r.Differences) > 0 && len(r.Constants) == 0 {
			if r.Suspect, err = v.suspect(ctx, i, before, want); err != nil {
				return err
			}
		}
	}
	r.Stray = v.stray(f, s, before, after)
	r.OK = len(r.Constants)+len(r.Differences)+len(r.Stray) == 0
	return nil
}

// agrees reports whether the artifact's stage had the operands and has the results of the
// interpreter's run, which saves interpreting it a second time.
func (v *verifier) agrees(f *ir.Func, s ir.Stage, before, after *engine.Memory, ref map[string][]byte) bool {
	for k, q := range f.Params {
		b, m := v.in.Program.BufferByName(s.Args[k]), before
		if q.Out {
			m = after
		}
		// which bits a NaN has changes no other element
		if _, same := compare(b.Buffer, v.at(m, b), ref[b.Name], false); !same {
			return false
		}
	}
	return true
}

// interpretStage interprets stage s of p, which is f, on memory m and returns its arguments
// afterwards.
func (v *verifier) interpretStage(ctx context.Context, p *ir.Program, f *ir.Func, s ir.Stage,
	m *engine.Memory) ([][]byte, error) {
	c := v.compiled[f]
	if c == nil {
		var err error
		if c, err = interp.Compile(f); err != nil {
			return nil, fmt.Errorf("stage %q: %w", s.Name, err)
		}
		v.compiled[f] = c
	}
	var args [][]byte
	for k, q := range f.Params {
		data := v.at(m, p.BufferByName(s.Args[k]))
		if q.Out {
			data = bytes.Clone(data)
		}
		args = append(args, data)
	}
	if err := c.Run(ctx, args); err != nil {
		return nil, fmt.Errorf("interpreting stage %q: %w", s.Name, err)
	}
	return args, nil
}

// differences compares the outputs of stage s.
func (v *verifier) differences(f *ir.Func, s ir.Stage, after *engine.Memory, want [][]byte) []Difference {
	var all []Difference
	for k, q := range f.Params {
		b := v.in.Program.BufferByName(s.Args[k])
		if q.Out {
			if d, ok := compare(b.Buffer, v.at(after, b), want[k], false); !ok {
				d.Inputs, d.Where = v.set.Name, locate(v.tensors[b.Name], b.Buffer, v.at(after, b), want[k])
				all = append(all, d)
			}
		}
	}
	return all
}

// suspect finds out whether the scheduled Func, interpreted on m, gives want.
func (v *verifier) suspect(ctx context.Context, stage int, m *engine.Memory, want [][]byte) (Suspect, error) {
	p := v.in.Scheduled
	if p == nil || stage >= len(p.Stages) {
		return Unknown, nil
	}
	s := p.Stages[stage]
	f := p.FuncByName(s.Func)
	if f == nil || len(f.Params) != len(s.Args) {
		return Unknown, nil
	}
	got, err := v.interpretStage(ctx, p, f, s, m)
	if err != nil {
		if ctx.Err() != nil {
			return Unknown, err
		}
		return Schedule, nil // the interpreter refuses it, so it is wrong
	}
	for k, q := range f.Params {
		if _, ok := compare(q.Buffer, got[k], want[k], false); q.Out && !ok {
			return Schedule, nil
		}
	}
	return Codegen, nil
}

// stray compares all memory that stage s has no business with.
func (v *verifier) stray(f *ir.Func, s ir.Stage, before, after *engine.Memory) []Stray {
	p := v.in.Program
	written := map[string]bool{}
	var arena [][2]int64 // written pieces
	for k, q := range f.Params {
		if b := p.BufferByName(s.Args[k]); q.Out {
			written[b.Name] = true
			if b.Kind == ir.ArenaBuf {
				at := v.tensors[b.Name].Offset
				arena = append(arena, [2]int64{at, at + int64(b.Bytes())})
			}
		}
	}
	slices.SortFunc(arena, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	var all []Stray
	st := Stray{Where: "arena"}
	from, end := int64(0), v.e.Describe().ArenaBytes
	for _, piece := range append(arena, [2]int64{end, end}) {
		if from < piece[0] {
			st.add(from, before.Work[from:piece[0]], after.Work[from:piece[0]])
		}
		from = max(from, piece[1])
	}
	if st.Bytes > 0 {
		all = append(all, st)
	}
	for _, b := range p.Buffers {
		if (b.Kind == ir.InputBuf || b.Kind == ir.OutputBuf) && !written[b.Name] {
			st := Stray{Where: "%" + b.Name}
			if st.add(0, v.at(before, &b), v.at(after, &b)); st.Bytes > 0 {
				all = append(all, st)
			}
		}
	}
	return all
}

// add counts the bytes that differ in pieces at offset from.
func (s *Stray) add(from int64, a, b []byte) {
	if bytes.Equal(a, b) {
		return
	}
	for i := range a {
		if a[i] != b[i] {
			if s.Bytes == 0 {
				s.First = from + int64(i)
			}
			s.Bytes++
		}
	}
}
