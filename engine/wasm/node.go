//go:build !ripc_static

package wasm

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"ripc/codegen/web"
	"ripc/internal/abi"
	"ripc/internal/tools"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// node is a process of Node that runs a module. It gets the stages to run with all memory, and
// answers with its time and all memory.
type node struct {
	name     string // of the network
	cmd      *exec.Cmd
	kill     func() // ends the process and those that it started, as where a program in Python starts Node
	orders   io.WriteCloser
	answers  io.Reader
	messages messages
	memory   []byte // the Session's inputs, outputs and workspace
	took     time.Duration
}

// messages keeps the last bytes that Node writes to standard error.
type messages struct{ text []byte }

func (m *messages) Write(p []byte) (int, error) {
	const most = 4096
	m.text = append(m.text, p...)
	m.text = m.text[max(0, len(m.text)-most):]
	return len(p), nil
}

//go:embed node.js
var nodeText string

// openInNode loads the module at path in Node. It fails as Open does, or with *tools.MissingError.
func openInNode(path string, desc *describe.Artifact, threads int) (*Session, error) {
	if threads > 1 && !slices.Contains(desc.Features, "atomics") {
		return nil, &ThreadsError{threads}
	}
	program, err := tools.FindNode("to run code for " + desc.Target)
	if err != nil {
		return nil, err
	}
	script := strings.NewReplacer("RUN", web.Script(), "FLAGS", web.Flags, "WORKER",
		strconv.Quote(web.Worker)).Replace(nodeText)
	start := "import('data:text/javascript," + url.PathEscape(script) + "')"
	life, kill := context.WithCancel(context.Background())
	n := &node{name: desc.Name, kill: kill,
		cmd: exec.CommandContext(life, program, "-e", start, "--", path, fmt.Sprint(threads))}
	tools.EndGroup(n.cmd)
	n.cmd.Stderr = &n.messages
	if n.orders, err = n.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if n.answers, err = n.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(n.answers, make([]byte, 1)); err != nil {
		return nil, &runtime.FileError{Path: path, Msg: "Node cannot load it", Err: n.end()}
	}
	s := &Session{desc: desc, node: n}
	n.memory = make([]byte, desc.WorkspaceBytes(threads))
	for _, t := range slices.Concat(desc.Inputs, desc.Outputs) {
		size, _ := runtime.TensorBytes(t) // ReadDescription has checked it
		n.memory = append(n.memory, make([]byte, size)...)
	}
	rest := n.memory
	take := func(size int) (part []byte) {
		part, rest = rest[:size], rest[size:]
		return part
	}
	for _, t := range desc.Inputs {
		size, _ := runtime.TensorBytes(t)
		s.inputs = append(s.inputs, take(size))
	}
	for _, t := range desc.Outputs {
		size, _ := runtime.TensorBytes(t)
		s.outputs = append(s.outputs, take(size))
	}
	s.workspace = rest
	return s, nil
}

// run runs stages first to last-1. It fails with *runtime.StatusError, or with *TrapError or ctx's
// error, and ends Node then.
func (n *node) run(ctx context.Context, first, last int) error {
	stop := context.AfterFunc(ctx, n.kill)
	order := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(first)), uint32(last))
	_, err := n.orders.Write(append(order, n.memory...))
	answer := make([]byte, 16)
	if err == nil {
		_, err = io.ReadFull(n.answers, answer)
	}
	if err == nil {
		_, err = io.ReadFull(n.answers, n.memory)
	}
	if !stop() || err != nil { // it may have answered before its end
		err = n.end()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return &TrapError{err.Error(), err}
	}
	n.took = time.Duration(binary.LittleEndian.Uint64(answer))
	if status := binary.LittleEndian.Uint64(answer[8:]); status != abi.OK {
		return &runtime.StatusError{Name: n.name, Code: int(status)}
	}
	return nil
}

// end waits for the end of Node, and returns its message.
func (n *node) end() error {
	_ = n.orders.Close()
	err := n.cmd.Wait()
	if text := bytes.TrimSpace(n.messages.text); len(text) > 0 {
		return errors.New(string(text))
	}
	return err
}
