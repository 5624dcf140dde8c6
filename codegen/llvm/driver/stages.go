package driver

import (
	"fmt"
	"strings"

	"ripc/internal/abi"
	"ripc/ir"
)

// setup writes the beginning of run: the checks, then the float settings.
func (w *driver) setup() {
	w.line(`
define internal i32 @run(ptr %%in, ptr %%out, ptr %%ws, i32 %%tid, i32 %%n, ptr %%sync, i32 %%first, i32 %%last) noinline #0 {
entry:
  %%tid.ok = icmp ult i32 %%tid, %%n ; never true if n is 0
  %%one = icmp eq i32 %%n, 1
  %%sync.there = icmp ne ptr %%sync, null
  %%sync.ok = or i1 %%one, %%sync.there
  %%threads.ok = and i1 %%tid.ok, %%sync.ok
  br i1 %%threads.ok, label %%arrays, label %%bad.threads

bad.threads:
  ret i32 %d

bad.alignment:
  ret i32 %d

bad.stages:
  ret i32 %d

arrays:`, abi.BadThreads, abi.BadBuffer, abi.BadStages)
	arrays := "true"
	for _, a := range []struct {
		name string
		n    int
	}{{"in", len(w.inputs)}, {"out", len(w.outputs)}} {
		if a.n > 0 {
			w.line("  %%%[1]s.there = icmp ne ptr %%%[1]s, null\n  %%%[1]s.ok = and i1 %[2]s, %%%[1]s.there", a.name, arrays)
			arrays = "%" + a.name + ".ok"
		}
	}
	w.line("  br i1 %s, label %%buffers, label %%bad.alignment\n\nbuffers:", arrays)
	var oks []string
	check := func(ptr, name string) {
		w.line("  %%%[2]s.int = ptrtoint ptr %[1]s to i64", ptr, name)
		w.line("  %%%[1]s.low = and i64 %%%[1]s.int, 63", name)
		w.line("  %%%[1]s.aligned = icmp eq i64 %%%[1]s.low, 0", name)
		oks = append(oks, "%"+name+".aligned")
	}
	given := func(ptr, name string) {
		w.line("  %%%s.given = icmp ne ptr %s, null", name, ptr)
		oks = append(oks, "%"+name+".given")
	}
	check("%sync", "sync") // null, which one thread may pass, is aligned
	check("%ws", "ws")
	if w.arena+w.scratch > 0 {
		given("%ws", "ws")
	}
	each := func(array string, n int) {
		for i := range n {
			name := fmt.Sprintf("%s.%d", array, i)
			w.line("  %%%s.at = getelementptr ptr, ptr %%%s, i64 %d", name, array, i)
			w.line("  %%%s = load ptr, ptr %%%s.at", name, name)
			check("%"+name, name)
			given("%"+name, name)
		}
	}
	each("in", len(w.inputs))
	each("out", len(w.outputs))
	all := oks[0]
	for i, ok := range oks[1:] {
		w.line("  %%ok.%d = and i1 %s, %s", i, all, ok)
		all = fmt.Sprintf("%%ok.%d", i)
	}
	w.line("  br i1 %s, label %%range, label %%bad.alignment", all)
	w.line(`
range:
  %%first.ok = icmp ule i32 %%first, %%last
  %%last.ok = icmp ule i32 %%last, %d
  %%range.ok = and i1 %%first.ok, %%last.ok
  br i1 %%range.ok, label %%ready, label %%bad.stages

ready:`, len(w.p.Stages))
	w.WriteString(w.arch.enter)
	w.line("  %%tid64 = zext i32 %%tid to i64")
	w.line("  %%scratch.skip = mul i64 %%tid64, %d", w.scratch)
	w.line("  %%scratch.at = add i64 %%scratch.skip, %d", w.arena)
	w.line("  %%scratch = getelementptr i8, ptr %%ws, i64 %%scratch.at")
	w.line("  br label %%check.0")
}

// stages writes the rest of run: each stage if it is asked for, then the barrier.
func (w *driver) stages() error {
	for i, s := range w.p.Stages {
		w.line(`
check.%[1]d:
  %%from.%[1]d = icmp ule i32 %%first, %[1]d
  %%to.%[1]d = icmp ugt i32 %%last, %[1]d
  %%do.%[1]d = and i1 %%from.%[1]d, %%to.%[1]d
  br i1 %%do.%[1]d, label %%stage.%[1]d, label %%check.%[2]d

stage.%[1]d: ; %[3]s`, i, i+1, strings.Map(printable, s.Name))
		var args []string
		for j, a := range s.Args {
			ptr, err := w.argument(a, i, j)
			if err != nil {
				return fmt.Errorf("driver of %s: stage %q: %w", w.d.Name, s.Name, err)
			}
			args = append(args, "ptr "+ptr)
		}
		args = append(args, "ptr %scratch", "i32 %tid", "i32 %n")
		w.line("  call void @%s(%s)", w.d.Kernels[s.Func], strings.Join(args, ", "))
		w.line("  call void @barrier(ptr %%sync, i32 %%n)")
		w.line("  br label %%check.%d", i+1)
	}
	w.line("\ncheck.%d:", len(w.p.Stages))
	w.WriteString(w.arch.leave)
	w.line("  ret i32 0\n}")
	return nil
}

// argument gives the pointer to a buffer, as argument j of stage i.
func (w *driver) argument(name string, i, j int) (string, error) {
	b := w.index.Buffer(name)
	if b == nil {
		return "", fmt.Errorf("there is no buffer %%%s", name)
	}
	tmp := fmt.Sprintf("%%arg.%d.%d", i, j)
	switch b.Kind {
	case ir.InputBuf:
		return fmt.Sprintf("%%in.%d", w.inputs[name]), nil
	case ir.OutputBuf:
		return fmt.Sprintf("%%out.%d", w.outputs[name]), nil
	case ir.ArenaBuf:
		if b.Offset < 0 || b.Offset+int64(b.Bytes()) > w.arena {
			return "", fmt.Errorf("%%%s is outside the arena of %d bytes", name, w.arena)
		}
		w.line("  %s = getelementptr i8, ptr %%ws, i64 %d", tmp, b.Offset)
		return tmp, nil
	}
	off, ok := w.d.Offsets[name]
	if !ok || w.d.Weights == "" {
		return "", fmt.Errorf("constant %%%s has no place in the weights", name)
	}
	w.line("  %s = getelementptr i8, ptr @%s, i64 %d", tmp, w.d.Weights, off)
	return tmp, nil
}

// printable replaces characters in a stage's name that could end the comment around it, or display
// misleadingly.
func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return '?'
	}
	return r
}
