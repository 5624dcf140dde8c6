package onnx

import (
	"context"
	"errors"
	"slices"

	"google.golang.org/protobuf/proto"

	"ripc/importer"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
	"ripc/importer/internal/source"
	"ripc/internal/lists"
	"ripc/internal/stop"
	"ripc/ir"
)

// wiring is the file's network as it is cut.
func wiring(file string, g *pb.GraphProto) *source.Wiring {
	konst := map[string]bool{"": true}
	for _, t := range g.Initializer {
		konst[t.GetName()] = true
	}
	for _, t := range g.SparseInitializer {
		konst[t.GetValues().GetName()] = true
	}
	tensors := func(names []string) (out []string) {
		for _, t := range names {
			if !konst[t] {
				out = append(out, t)
			}
		}
		return out
	}
	return &source.Wiring{File: file, Inputs: tensors(lists.Map(g.Input, (*pb.ValueInfoProto).GetName)),
		Outputs: lists.Map(g.Output, (*pb.ValueInfoProto).GetName),
		Nodes: lists.Map(g.Node, func(n *pb.NodeProto) source.Wire {
			return source.Wire{Name: n.GetName(), Reads: tensors(n.Input), Makes: tensors(n.Output)}
		})}
}

// cut is the part of m that the options ask for, and its interface. Nodes outside are never read.
func (r *reading) cut(ctx context.Context, m *pb.ModelProto, o importer.Options) *pb.ModelProto {
	if len(o.Begin)+len(o.End) == 0 {
		return m
	}
	g := m.Graph
	part := stop.Must(wiring(r.file, g).Cut(o.Begin, o.End))
	described := map[string]*pb.ValueInfoProto{}
	for _, list := range [][]*pb.ValueInfoProto{g.Output, g.ValueInfo, g.Input} {
		for _, v := range list {
			described[v.GetName()] = v
		}
	}
	var inputs []*pb.ValueInfoProto
	for _, name := range part.Inputs {
		v := described[name]
		if slices.ContainsFunc(g.Input, func(in *pb.ValueInfoProto) bool { return in.GetName() == name }) {
			inputs = append(inputs, v)
			continue
		}
		inputs = append(inputs, r.describe(ctx, m, name, v, o))
	}
	var nodes []*pb.NodeProto
	read := map[string]bool{}
	for i, keep := range part.Keep {
		if !keep {
			continue
		}
		n := g.Node[i]
		if slices.ContainsFunc(n.Output, func(t string) bool { return slices.Contains(part.Inputs, t) }) {
			n = proto.CloneOf(n) // of its results, those that the caller brings are not made
			for k, t := range n.Output {
				if slices.Contains(part.Inputs, t) {
					n.Output[k] = ""
				}
			}
		}
		nodes = append(nodes, n)
		for _, t := range n.Input {
			read[t] = true
		}
	}
	var outputs []*pb.ValueInfoProto
	for _, name := range part.Outputs {
		v := described[name]
		if v == nil {
			v = &pb.ValueInfoProto{Name: proto.String(name)}
		}
		outputs = append(outputs, v)
		read[name] = true
	}
	c := &pb.GraphProto{Name: g.Name, Node: nodes, Input: inputs, Output: outputs, ValueInfo: g.ValueInfo,
		QuantizationAnnotation: g.QuantizationAnnotation}
	for _, t := range g.Initializer {
		if read[t.GetName()] {
			c.Initializer = append(c.Initializer, t)
		}
	}
	for _, t := range g.SparseInitializer {
		if read[t.GetValues().GetName()] {
			c.SparseInitializer = append(c.SparseInitializer, t)
		}
	}
	return &pb.ModelProto{IrVersion: m.IrVersion, OpsetImport: m.OpsetImport, ProducerName: m.ProducerName,
		Functions: m.Functions, Graph: c}
}

// describe gives type and shape of a tensor that is to become an input: as the caller says, as the
// file does, v, or as reading the network up to there shows.
func (r *reading) describe(ctx context.Context, m *pb.ModelProto, name string, v *pb.ValueInfoProto,
	o importer.Options) *pb.ValueInfoProto {
	if tt := v.GetType().GetTensorType(); tt.GetShape() != nil && tt.GetElemType() != 0 {
		return v
	}
	if shape, ok := o.Shapes[name]; ok {
		return valueInfo(name, dtFloat, shape)
	}
	var b *builder
	var e *ir.Error
	upTo := importer.Options{Batch: o.Batch, Shapes: ofInputs(m.Graph, o.Shapes), End: []string{name}}
	if err := stop.Try(func() { b = r.network(ctx, m, upTo) }); errors.As(err, &e) {
		panic(&ir.Error{Pos: e.Pos, Node: e.Node, Help: "say it: " + importer.Shape.With(name+"=1,..."),
			Msg: importer.Begin.With(name) +
				": the file does not say the shape of this tensor, and its producer cannot be read: " + e.Msg})
	} else {
		stop.Check(err)
	}
	t := b.tensors[name]
	if t.integers != nil {
		dt := dtUint8
		if t.integers.attrs().Signed {
			dt = dtInt8
		}
		return valueInfo(name, dt, t.shape)
	}
	return valueInfo(name, dtFloat, t.shape)
}

// valueInfo describes a tensor.
func valueInfo(name string, dt dtype, shape []int) *pb.ValueInfoProto {
	s := &pb.TensorShapeProto{}
	for _, n := range shape {
		s.Dim = append(s.Dim,
			&pb.TensorShapeProto_Dimension{Value: &pb.TensorShapeProto_Dimension_DimValue{DimValue: int64(n)}})
	}
	t := &pb.TypeProto_Tensor{ElemType: proto.Int32(int32(dt)), Shape: s}
	return &pb.ValueInfoProto{Name: &name, Type: &pb.TypeProto{Value: &pb.TypeProto_TensorType{TensorType: t}}}
}

// ofInputs are the shapes that are given of the file's own inputs.
func ofInputs(g *pb.GraphProto, shapes map[string][]int) map[string][]int {
	own := map[string][]int{}
	for _, v := range g.Input {
		if s, ok := shapes[v.GetName()]; ok {
			own[v.GetName()] = s
		}
	}
	return own
}

// writtenBatch is the first extent of the file's own inputs, 0 if it is open.
func writtenBatch(g *pb.GraphProto) int {
	konst := map[string]bool{}
	for _, t := range g.Initializer {
		konst[t.GetName()] = true
	}
	for _, v := range g.Input {
		if dims := v.GetType().GetTensorType().GetShape().GetDim(); !konst[v.GetName()] && len(dims) > 0 {
			return int(dims[0].GetDimValue())
		}
	}
	return 0
}
