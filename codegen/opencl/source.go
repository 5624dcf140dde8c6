package opencl

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"ripc/codegen"
	"ripc/runtime/describe"
)

//go:embed network.h
var networkText string

// network is the input of networkText.
type network struct {
	Name, Header string
	Args         []arg
	Launches     []launch
	Kernels      []string
	Work         int64
}

type arg struct {
	Space         string
	Index, Offset int64
}

type launch struct{ Kernel, Args, First, Blocks, Threads int }

// source is a file of C that runs the network in a context and a queue of its caller.
func source(m *codegen.Image, kernels []byte) []byte {
	n := network{Name: m.Name, Work: m.Description.WorkspaceBytes(1) + 1}
	index := map[string]int{}
	for _, st := range m.Description.Stages {
		first := len(n.Args)
		for _, t := range append(slices.Clone(st.Reads), st.Writes...) {
			n.Args = append(n.Args, argOf(t))
		}
		n.Args = append(n.Args, arg{"rc_work", 0, m.Description.ArenaBytes})
		for _, l := range st.Launches {
			if _, ok := index[l.Kernel]; !ok {
				index[l.Kernel], n.Kernels = len(n.Kernels), append(n.Kernels, l.Kernel)
			}
			n.Launches = append(n.Launches, launch{index[l.Kernel], len(n.Args) - first, first, l.Blocks, l.Threads})
		}
	}
	var head, out bytes.Buffer
	head.Write(m.HeaderText())
	head.WriteString("\nstatic const char *const rc_source[] = {\n")
	for line := range strings.Lines(string(kernels)) {
		fmt.Fprintf(&head, "    %s,\n", codegen.Literal(line))
	}
	head.WriteString("};\n\n")
	weights := append(bytes.Join(m.Weights, nil), 0, 0, 0, 0) // C has no empty arrays
	codegen.WriteWords(&head, "static const cl_uint rc_constants[%d]", weights)
	n.Header = head.String()
	if err := template.Must(template.New("").Parse(networkText)).Execute(&out, n); err != nil {
		panic("BUG: " + err.Error())
	}
	return out.Bytes()
}

// argOf is the place of a tensor.
func argOf(t describe.Tensor) arg {
	switch t.Where {
	case "input":
		return arg{"rc_in", t.Offset, 0}
	case "output":
		return arg{"rc_out", t.Offset, 0}
	case "const":
		return arg{"rc_const", 0, t.Offset}
	}
	return arg{"rc_work", 0, t.Offset}
}
