// Package onnx reads ONNX and QONNX files. Read makes a graph of plain ops. Convolutions, pools and
// dense layers stay float layers over float tensors. A quantizer becomes quantize or threshold,
// followed by dequantize; the result stands for the file's float tensor. Package recognize decides
// later which layers become bitserial.
//
// Everything that does not depend on an input is computed. Shapes and common arithmetic are
// computed here, other ops by an Evaluator that runs the graph of the op. An op is one row of
// table.go, and the documentation is made from these rows.
//
// Images are NHWC inside. The reader knows for every tensor in which order its axes are stored
// (layout.go). A transpose is emitted only where an op needs another order, so that most transposes
// and reshapes of a file cost nothing.
//
// Readers of other formats may spell their operators in those of ONNX (program.go).
//
// Files are named after their part: read_*.go the protocol buffer and its nodes, eval*.go
// constants, float_*.go, quant_*.go and shape_*.go the ops.
package onnx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"ripc/graph"
	"ripc/importer"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/importer/internal/source"
	"ripc/internal/files"
	"ripc/internal/stop"
	"ripc/ir"
)

// Opener reads length bytes at offset of a file with external data; name is as in the model. It
// must refuse names outside the model's folder.
type Opener func(name string, offset, length int64) ([]byte, error)

// Read reads the model in the file at path, and external data from the folder that it lies in. eval
// computes ops on constants.
func Read(ctx context.Context, path string, o importer.Options, eval importer.Evaluator) (*graph.Graph, error) {
	data, err := source.Read(path, maxFile, "keep weights outside of the file (save_as_external_data)")
	if err != nil {
		return nil, err
	}
	return parse(ctx, path, data, folder(filepath.Dir(path)), o, eval, baseMemory)
}

// folder reads external data inside one folder, which neither names nor symbolic links leave.
func folder(dir string) Opener {
	return func(name string, offset, length int64) ([]byte, error) {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, errors.New("lies outside the model's folder")
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		f, err := files.OpenIn(root, filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if length > info.Size() || offset > info.Size()-length {
			return nil, fmt.Errorf("has %d bytes, want %d at %d", info.Size(), length, offset)
		}
		buf := make([]byte, length)
		_, err = io.ReadFull(io.NewSectionReader(f, offset, length), buf)
		return buf, err
	}
}

// textStart returns the first characters of data if they are those of a text: printable ones,
// blanks and ends of lines.
func textStart(data []byte) (string, bool) {
	const shown, looked = 24, 256
	start := data[:min(len(data), looked)]
	for _, c := range start {
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return "", false
		}
	}
	return string(start[:min(len(start), shown)]), len(start) > 0
}

// parse reads a model from data as o asks for it; file is its name in messages. Ops that are not
// supported are reported all at once, as errors joined. memory bounds the memory for reading any
// file.
func parse(ctx context.Context, file string, data []byte, open Opener, o importer.Options, eval importer.Evaluator,
	memory int64) (_ *graph.Graph, err error) {
	defer stop.Catch(&err)
	fail := func(format string, args ...any) (*graph.Graph, error) {
		return nil, &ir.Error{Pos: ir.Pos{File: file}, Msg: fmt.Sprintf(format, args...)}
	}
	if open == nil {
		open = func(string, int64, int64) ([]byte, error) {
			return nil, errors.New("there is no folder to read it from")
		}
	}
	m := &pb.ModelProto{}
	if err := checkWire(m.ProtoReflect().Descriptor(), data, memory); err != nil {
		if start, ok := textStart(data); ok {
			return nil, &ir.Error{Pos: ir.Pos{File: file}, Help: "export the network to .onnx again",
				Msg: fmt.Sprintf("this is a text file, which begins with %q, and no ONNX model", start)}
		}
		return nil, &ir.Error{Pos: ir.Pos{File: file}, Msg: "not a readable ONNX file", Err: err}
	}
	unmarshal := proto.UnmarshalOptions{RecursionLimit: 4 * maxNesting, AllowPartial: true}
	if err := unmarshal.Unmarshal(data, m); err != nil {
		return nil, &ir.Error{Pos: ir.Pos{File: file}, Msg: "not a readable ONNX file", Err: err}
	}
	if m.Graph == nil {
		return fail("the file has no graph: it is no ONNX model")
	}
	r := &reading{file: file, open: open, eval: eval, memory: 2*memory + 8*int64(len(data))}
	b := r.network(ctx, m, o)
	b.outputs()
	return b.finished(), nil
}

// finished is the graph, with inputs as the options have them.
func (b *builder) finished() *graph.Graph {
	stop.Check(b.faults.Err())
	b.g.Prune()
	return stop.Must(source.Adapt(b.g.Graph(), b.options))
}

// reading holds the arguments for reading a file, or a part of it once more.
type reading struct {
	file   string
	open   Opener
	eval   importer.Evaluator
	memory int64 // that constants may take
}

// network reads the nodes of m that o asks for, but not its outputs.
func (r *reading) network(ctx context.Context, m *pb.ModelProto, o importer.Options) *builder {
	whole := m
	m = r.cut(ctx, m, o)
	b := newBuilder(ctx, r.file, m, r.open, o, r.memory)
	b.eval = r.eval
	b.opsets(m)
	b.order = b.sortNodes()
	b.initializers()
	b.inputs()
	if in := b.g.Graph().Inputs; len(o.Begin) > 0 && len(in) > 0 {
		b.sizes.Written(writtenBatch(whole.Graph), b.g.Graph().Values[in[0]].Shape[0])
	}
	for _, i := range b.order {
		stop.Check(ctx.Err())
		b.node(i, m.Graph.Node[i])
	}
	b.faults.Advise(func() *source.Wiring { return wiring(b.file, m.Graph) })
	stop.Check(b.faults.Err())
	return b
}

// The versions of the standard's operators that are known. Later ones are read as the last of them,
// and a note says so.
const firstOpset, lastOpset = 6, 28

// opsets checks the versions of the operator sets. Of several imports of one domain the last one
// counts, as in onnxruntime.
func (b *builder) opsets(m *pb.ModelProto) {
	for _, o := range m.OpsetImport {
		d := o.GetDomain()
		if isStandard(d) {
			d = ""
		}
		b.opset[d] = o.GetVersion()
	}
	v, ok := b.opset[""]
	switch {
	case !ok && slices.ContainsFunc(m.Graph.Node, func(n *pb.NodeProto) bool { return isStandard(n.GetDomain()) }):
		panic(b.errorf(fmt.Sprintf("export with an opset from %d to %d", firstOpset, lastOpset),
			"the file does not say which opset its operators are of"))
	case ok && v < firstOpset:
		panic(b.errorf(fmt.Sprintf("export with an opset from %d to %d, or convert with onnx.version_converter",
			firstOpset, lastOpset), "opset %d is not supported", v))
	case v > lastOpset:
		b.remark = fmt.Sprintf("opset %d is newer than %d, the last one known: operators are read as in that one", v,
			lastOpset)
	}
}

// sortNodes numbers the file's nodes so that each comes behind the nodes that make its inputs. ONNX
// demands this order, but some files do not have it. A file that has it keeps it. Nodes that read
// each other in a circle are an error, and no node is read then.
func (b *builder) sortNodes() []int {
	nodes := b.model.Graph.Node
	maker := map[string]int{}
	for i, n := range nodes {
		for _, out := range n.Output {
			if _, made := maker[out]; !made {
				maker[out] = i
			}
		}
	}
	for _, t := range b.model.Graph.Initializer {
		delete(maker, t.GetName())
	}
	for _, v := range b.model.Graph.Input {
		delete(maker, v.GetName())
	}
	delete(maker, "")
	order, cycles := source.Sort(len(nodes), func(node int) (list []int) {
		for _, in := range nodes[node].Input {
			if m, made := maker[in]; made {
				list = append(list, m)
			}
		}
		return list
	}, 1)
	if len(cycles) == 0 {
		return order
	}
	var circle []string
	for _, i := range cycles[0][max(0, len(cycles[0])-5):] {
		n := &node{NodeProto: nodes[i], b: b}
		n.name(i)
		circle = append([]string{n.displayName()}, circle...)
	}
	b.faults.Add(&ir.Error{Pos: ir.Pos{File: b.file},
		Msg: fmt.Sprintf("nodes read each other in a circle: %s", strings.Join(circle, ", "))})
	return nil
}
