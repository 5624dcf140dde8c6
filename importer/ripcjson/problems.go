package ripcjson

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ripc/internal/lists"
	"ripc/ir"
)

const (
	maxProblems = 20   // faults that one report lists
	maxKept     = 1000 // faults that are kept to choose those from, by line
)

// problems collects the faults of a model.
type problems struct {
	file string
	list []*ir.Error
	seen map[string]bool
	more int // faults beyond maxKept
}

func (p *problems) any() bool { return len(p.list) > 0 }

// full reports that the report is long enough: costly faults may be left out.
func (p *problems) full() bool { return len(p.list) >= maxProblems }

// add notes a fault. where is the node or input as messages name it; it may be empty.
func (p *problems) add(line int, where, help, format string, args ...any) {
	p.addError(&ir.Error{Pos: ir.Pos{File: p.file, Line: line}, Node: where, Msg: fmt.Sprintf(format, args...),
		Help: strings.TrimSpace(help)})
}

// addError notes a fault that may come from elsewhere, e.g. graph.Infer. The same fault is noted
// once.
func (p *problems) addError(err error) {
	if len(p.list) == maxKept {
		p.more++
		return
	}
	var e *ir.Error
	if !errors.As(err, &e) {
		e = &ir.Error{Pos: ir.Pos{File: p.file}, Err: err}
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	if text := e.Error(); !p.seen[text] {
		p.seen[text] = true
		p.list = append(p.list, e)
	}
}

// join is one error for all faults, nil if there are none, in the order of their lines. A single
// fault stays an *ir.Error.
func (p *problems) join() error {
	slices.SortStableFunc(p.list, func(a, b *ir.Error) int {
		return cmp.Or(a.Pos.Line-b.Pos.Line, strings.Compare(a.Error(), b.Error()))
	})
	if len(p.list) == 1 {
		return p.list[0]
	}
	errs := lists.Map(p.list[:min(len(p.list), maxProblems)], func(e *ir.Error) error { return e })
	if more := len(p.list) + p.more - len(errs); more > 0 {
		errs = append(errs, &ir.Error{Pos: ir.Pos{File: p.file}, Msg: fmt.Sprintf("and %d more", more)})
	}
	return errors.Join(errs...)
}
