package c99

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"ripc/codegen"
	"ripc/codegen/clike"
	"ripc/internal/abi"
	"ripc/ir"
	"ripc/runtime/describe"
)

// templates has the parts of a file around the kernels: prelude.h begins it, driver.h has the entry
// points.
//
//go:embed *.h
var templates embed.FS

// file writes the whole source.
func file(m *codegen.Image) ([]byte, error) {
	u := clike.NewUnit(m.Floats)
	for _, e := range m.Exports() {
		u.Reserve(e)
	}
	index := m.Program.Index()
	var kernels strings.Builder
	for _, name := range m.Order {
		text, err := u.Kernel(index.Func(name), m.Kernels[name].Symbol)
		if err != nil {
			return nil, err
		}
		kernels.WriteString(text)
	}
	d := newDriver(m, index)
	t := template.Must(template.New("").Funcs(template.FuncMap{"comment": codegen.Comment,
		"common": func() string { return codegen.Common }}).ParseFS(templates, "prelude.h", "driver.h"))
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "prelude.h", d); err != nil {
		return nil, err
	}
	out.WriteString(u.HelperText())
	out.WriteString(u.InstrText())
	out.WriteString(kernels.String())
	writeWeights(&out, m.Weights)
	if err := writeDescription(&out, m); err != nil {
		return nil, err
	}
	err := t.ExecuteTemplate(&out, "driver.h", d)
	return out.Bytes(), err
}

// writeWeights writes all constants as little-endian words.
func writeWeights(out *bytes.Buffer, pieces [][]byte) {
	if len(pieces) == 0 {
		return
	}
	codegen.WriteWords(out, "/* Weights and tables. They stay in the file even if a compiler knows their values by "+
		"heart, for ripc verify. */\nstatic RIPC_USED const RIPC_ALIGNED uint32_t "+abi.Weights+"[%d]",
		bytes.Join(pieces, nil))
}

// archMacros are the architectures that the runtime knows, and the macros of their compilers.
func archMacros() [][2]string {
	return [][2]string{{"x86_64", "__x86_64__"}, {"aarch64", "__aarch64__"}, {"arm", "__arm__"}}
}

// writeDescription writes the description as numbers: C99 does not promise that a literal may be so
// long. The source is for any chip, so the compiler says which it is, and no features of the
// target's are needed.
func writeDescription(out *bytes.Buffer, m *codegen.Image) error {
	if m.NoDescribe {
		fmt.Fprintf(out, "static const unsigned char %s[] = {123, 125, 0};\n\n", abi.Describe)
		return nil
	}
	portable, d := *m, *m.Description
	portable.Description, d.Features = &d, []string{}
	var texts [][]byte
	for _, a := range append(archMacros(), [2]string{m.Target.Arch}) {
		d.Arch = a[0]
		text, err := portable.DescriptionText()
		if err != nil {
			return err
		}
		texts = append(texts, append(text, 0))
	}
	head, tail := sharedBytes(texts)
	fmt.Fprintf(out, `/* The description, as NAME_describe returns it; in ELF files it has a section of its own. */
#ifdef RIPC_NO_DESCRIBE
static const unsigned char %[1]s[] = {123, 125, 0};
#else
#if defined(__GNUC__) && defined(__ELF__)
__attribute__((section("%[2]s"), used))
#endif
static const unsigned char %[1]s[] = {`, abi.Describe, describe.Section)
	writeBytes(out, texts[0][:head])
	for i, text := range texts {
		switch {
		case i == len(archMacros()):
			out.WriteString("\n#else")
		case i == 0:
			fmt.Fprintf(out, "\n#if defined(%s)", archMacros()[i][1])
		default:
			fmt.Fprintf(out, "\n#elif defined(%s)", archMacros()[i][1])
		}
		writeBytes(out, text[head:len(text)-tail])
	}
	out.WriteString("\n#endif")
	writeBytes(out, texts[0][len(texts[0])-tail:])
	out.WriteString("\n};\n#endif\n\n")
	return nil
}

// sharedBytes returns the lengths of the longest common prefix of texts and, behind it, of the
// longest common suffix.
func sharedBytes(texts [][]byte) (head, tail int) {
	least := len(slices.MinFunc(texts, func(a, b []byte) int { return len(a) - len(b) }))
	same := func(at func(t []byte) byte) bool {
		return !slices.ContainsFunc(texts, func(t []byte) bool { return at(t) != at(texts[0]) })
	}
	for head < least && same(func(t []byte) byte { return t[head] }) {
		head++
	}
	for tail < least-head && same(func(t []byte) byte { return t[len(t)-1-tail] }) {
		tail++
	}
	return head, tail
}

// writeBytes writes data as lines of an initializer.
func writeBytes(out *bytes.Buffer, data []byte) {
	for i, c := range data {
		if i%32 == 0 {
			out.WriteString("\n    ")
		}
		fmt.Fprintf(out, "%d,", c)
	}
}

// driver is the templates' input.
type driver struct {
	*codegen.Image
	Run, Describe          string // names of functions and data
	Arrived, Passed, CPUOK int    // offsets in ripc_sync; the result of cpu_ok
	Workspace              bool   // it is used
	Arrays                 []array
	Stages                 []stage
}

// array is an argument of run with N pointers to buffers.
type array struct {
	Name string
	N    int
}

// stage is a call of a kernel.
type stage struct {
	Name, Kernel string
	Args         []string
}

func newDriver(m *codegen.Image, index ir.Index) *driver {
	counts := map[ir.BufKind]int{}
	places := map[string]int{}
	for _, q := range m.Program.Buffers {
		places[q.Name] = counts[q.Kind]
		counts[q.Kind]++
	}
	d := &driver{Image: m, Run: abi.Run(m.Name, m.ABI), Describe: abi.Describe, Arrived: abi.Arrived,
		Passed: abi.Passed, CPUOK: abi.CPUOK, Workspace: m.Description.WorkspaceBytes(1) > 0,
		Arrays: []array{{"in", counts[ir.InputBuf]}, {"out", counts[ir.OutputBuf]}}}
	for _, s := range m.Program.Stages {
		st := stage{Name: s.Name, Kernel: m.Kernels[s.Func].Symbol}
		for j, a := range s.Args {
			st.Args = append(st.Args, d.argument(index.Buffer(a), index.Func(s.Func).Params[j], places))
		}
		d.Stages = append(d.Stages, st)
	}
	return d
}

// argument is a pointer to a buffer, for parameter p.
func (d *driver) argument(b *ir.ProgBuf, p ir.Param, places map[string]int) string {
	t := "const " + clike.Memory(p.Type) + " *"
	if p.Out {
		t = clike.Memory(p.Type) + " *"
	}
	switch b.Kind {
	case ir.InputBuf:
		return fmt.Sprintf("(%s)in[%d]", t, places[b.Name])
	case ir.OutputBuf:
		return fmt.Sprintf("(%s)out[%d]", t, places[b.Name])
	case ir.ArenaBuf:
		return fmt.Sprintf("(%s)(void *)(ws + %d)", t, b.Offset)
	}
	return fmt.Sprintf("(%s)(const void *)(%s + %d)", t, abi.Weights, d.Offsets[b.Name]/4)
}
