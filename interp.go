package ripc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ripc/codegen"
	"ripc/compile"
	"ripc/engine"
	"ripc/internal/constants"
	"ripc/internal/files"
	"ripc/internal/irdata"
	"ripc/internal/models"
	"ripc/internal/tensorio"
	"ripc/ir"
	"ripc/ir/interp"
	"ripc/ir/irtext"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// InterpRequest says what text to interpret, and on what.
type InterpRequest struct {
	Path   string   // of the text (.ripir): a program, or funcs
	Func   string   // of the funcs, the one to run; "" if there is only one, or a program
	SO     string   // artifact that holds a program's constants, whose text has their hashes only; "" fills them from Seed
	Inputs []string // as RunRequest.Inputs; a func's inputs are all parameters that it does not write
	Seed   uint64
	// Unchecked lets elements be read before they are written, and sums wrap. Otherwise both are errors, as indices outside of
	// buffers are in either case.
	Unchecked bool
	// Progress, if not nil, is called now and then with what is being done.
	Progress func(done, total int, what string)
}

// InterpResult is what the interpreter made of it.
type InterpResult struct {
	RunResult
	Filled []string // constants that were filled from the seed
}

// ChoiceError says that a name has to be given, and which there are.
type ChoiceError struct {
	Path, What string // what is to be chosen, e.g. "func"
	Given      string
	Names      []string
}

func (e *ChoiceError) Error() string {
	if e.Given != "" {
		return fmt.Sprintf("%s: no %s is called %q; there are %s", e.Path, e.What, e.Given, strings.Join(e.Names, ", "))
	}
	return fmt.Sprintf("%s: it has %d %ss: %s", e.Path, len(e.Names), e.What, strings.Join(e.Names, ", "))
}

// BadInput reports that the input is at fault.
func (*ChoiceError) BadInput() bool { return true }

// Interpret runs a printed program or func in the interpreter. Mistakes in the text are *ir.Errors with line and column.
func Interpret(ctx context.Context, r InterpRequest) (*InterpResult, error) {
	if err := models.CheckHost(r.Path); err != nil {
		return nil, err
	}
	src, err := files.ReadText(r.Path)
	if err != nil {
		return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "cannot read it", Err: files.Cause(err)}
	}
	text, err := irtext.Parse(r.Path, src)
	if err != nil {
		return nil, err
	}
	if err := r.check(text); err != nil {
		return nil, err
	}
	p, filled, err := r.program(text)
	if err != nil {
		return nil, err
	}
	if err := ir.VerifyProgram(p); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Path, err)
	}
	d := codegen.Describe(codegen.Input{Program: p})
	if len(d.Outputs) == 0 {
		return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "nothing in it is an output"}
	}
	for _, t := range d.Outputs {
		if _, err := runtime.TensorBytes(t); err != nil {
			return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Err: err}
		}
	}
	run := RunRequest{Path: r.Path, Inputs: r.Inputs, Seed: r.Seed, Progress: r.Progress, Threads: 1}
	fill := tensorio.Seeded(r.Seed)
	if text.Program == nil || r.Func != "" { // a func has inputs that no network has: words of weights, thresholds, indices
		random := irdata.Random(p.Funcs[0], r.Seed)
		fill = func(t describe.Tensor, _ int) ([]byte, error) {
			return random[slices.IndexFunc(p.Buffers, func(b ir.ProgBuf) bool { return b.Name == t.Name })], nil
		}
	}
	res, err := run.on(ctx, fill, func(progress func(int, int, string)) (engine.Engine, error) {
		checks := interp.All()
		if r.Unchecked {
			checks = interp.Checks{}
		}
		return engine.InterpretWith(p, d, checks, progress), nil
	})
	if undefined := (*interp.RuntimeError)(nil); errors.As(err, &undefined) {
		err = &ir.Error{Pos: ir.Pos{File: r.Path}, Err: err} // whoever wrote the text is to blame
	}
	if err != nil {
		return nil, err
	}
	return &InterpResult{*res, filled}, nil
}

// maxInterpBytes bounds the buffers of what is interpreted.
const maxInterpBytes = 8 << 30

// check fails if text holds no program, or one that needs too much memory.
func (r InterpRequest) check(text *irtext.File) error {
	if text.Program == nil && len(text.Funcs) == 0 {
		return &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "there is neither a program nor a func in it"}
	}
	large := func(node string, bytes int64) error {
		return &ir.Error{Pos: ir.Pos{File: r.Path}, Node: node, Msg: fmt.Sprintf("its buffers have %d bytes; at most %d are possible", bytes, int64(maxInterpBytes))}
	}
	if p := text.Program; p != nil && r.Func == "" {
		var sum int64
		for _, b := range p.Buffers {
			if sum += int64(b.Bytes()); sum > maxInterpBytes {
				return large("program @"+p.Name, sum)
			}
		}
	}
	for _, f := range text.Funcs {
		var sum int64
		for _, q := range f.Params {
			if sum += int64(q.Bytes()); sum > maxInterpBytes {
				return large("@"+f.Name, sum)
			}
		}
	}
	return nil
}

// program is the text's program with its constants, or that of one func.
func (r InterpRequest) program(text *irtext.File) (p *ir.Program, filled []string, err error) {
	if text.Program != nil && r.Func == "" {
		if r.SO == "" {
			filled, err = irdata.FillConstants(text.Program, r.Seed)
			return text.Program, filled, err
		}
		data, err := constants.Named(r.SO, text.ConstHash)
		if err == nil {
			err = text.Bind(data)
		}
		if err != nil {
			return nil, nil, err
		}
		return text.Program, nil, nil
	}
	c := &ChoiceError{Path: r.Path, What: "func", Given: r.Func}
	for _, f := range text.Funcs {
		if f.Name == r.Func || r.Func == "" && len(text.Funcs) == 1 {
			p, err := compile.Alone(f, compile.KernelOptions{Constants: map[string][]byte{}})
			return p, nil, err
		}
		c.Names = append(c.Names, f.Name)
	}
	return nil, nil, c
}
