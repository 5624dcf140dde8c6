package ripc

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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

// InterpRequest says which text to interpret, and on which inputs.
type InterpRequest struct {
	Path   string   // of the text (.ripir): a program, or funcs
	Func   string   // the func to run; "" for the only one, or for a program
	SO     string   // artifact with the constants, as a program's text has only their hashes; "" fills them from Seed
	Inputs []string // as RunRequest.Inputs; a func's inputs are all parameters that it does not write
	Seed   uint64
	// Unchecked allows reads of elements before they are written, and sums that wrap. Both are
	// errors otherwise. Indices outside of buffers are always errors.
	Unchecked bool
	// Progress, if not nil, is called now and then with the current task.
	Progress func(done, total int, what string)
}

// InterpResult is the result of Interpret.
type InterpResult struct {
	RunResult
	Filled []string // constants that were filled from the seed
}

// ChoiceError says that a name is missing or unknown, and lists the names to choose from.
type ChoiceError struct {
	Path, What string // the file, and the kind of thing to choose, e.g. "func"
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

// Interpret runs a printed program or func in the interpreter. Mistakes in the text are *ir.Errors
// with line and column.
func Interpret(ctx context.Context, r InterpRequest) (*InterpResult, error) {
	if err := models.CheckHost(r.Path); err != nil {
		return nil, err
	}
	if slices.Contains(models.Kinds(), filepath.Ext(r.Path)) {
		return nil, &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "it is a model, not the text of a program"}
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
	if text.Program == nil || r.Func != "" { // a func also has weights, thresholds and indices as inputs
		random := irdata.Random(p.Funcs[0], r.Seed)
		fill = func(t describe.Tensor, _ int) ([]byte, error) {
			return random[slices.IndexFunc(p.Buffers, func(b ir.ProgBuf) bool { return b.Name == t.Name })], nil
		}
	}
	res, err := run.infer(ctx, fill, func(progress func(int, int, string)) (engine.Engine, error) {
		checks := interp.All()
		if r.Unchecked {
			checks = interp.Checks{}
		}
		return engine.InterpretWith(p, d, checks, progress), nil
	})
	if undefined := (*interp.RuntimeError)(nil); errors.As(err, &undefined) {
		err = &ir.Error{Pos: ir.Pos{File: r.Path}, Err: err} // the text is at fault
	}
	if err != nil {
		return nil, err
	}
	return &InterpResult{*res, filled}, nil
}

// maxInterpBytes bounds the buffers of an interpreted network.
const maxInterpBytes = 8 << 30

// check fails if text holds no program, or one that needs more than maxInterpBytes.
func (r InterpRequest) check(text *irtext.File) error {
	if text.Program == nil && len(text.Funcs) == 0 {
		return &ir.Error{Pos: ir.Pos{File: r.Path}, Msg: "there is neither a program nor a func in it"}
	}
	large := func(node string, bytes int64) error {
		return &ir.Error{Pos: ir.Pos{File: r.Path}, Node: node,
			Msg: fmt.Sprintf("its buffers have %d bytes; at most %d are possible", bytes, int64(maxInterpBytes))}
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

// program returns the text's program with its constants, or a program of one func.
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
			p, err := compile.KernelProgram(f, compile.KernelOptions{Constants: map[string][]byte{}})
			return p, nil, err
		}
		c.Names = append(c.Names, f.Name)
	}
	return nil, nil, c
}
