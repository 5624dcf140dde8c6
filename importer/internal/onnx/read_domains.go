package onnx

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ripc/ir"
)

// family is a set of operators that are defined together, under one domain or several.
type family uint8

// The families.
const (
	standard     family = iota
	qonnx               // of QONNX, Brevitas and FINN
	channelsLast        // QONNX's forms of standard ops on images [N, H, W, C]
	microsoft           // of onnxruntime
)

// key finds an op's row.
type key struct {
	family family
	name   string
}

// ops are the rows of the table.
type ops map[key]*op

// isStandard reports whether a domain is that of the ONNX standard.
func isStandard(domain string) bool { return domain == "" || domain == "ai.onnx" }

// familyOf returns the family of the operators in a domain; ok is false for unknown domains.
func familyOf(domain string) (f family, ok bool) {
	under := func(names ...string) bool {
		return slices.ContainsFunc(names,
			func(d string) bool { return domain == d || strings.HasPrefix(domain, d+".") })
	}
	switch {
	case isStandard(domain):
		return standard, true
	case strings.HasSuffix(domain, ".channels_last") && under("qonnx", "finn"):
		return channelsLast, true
	case under("onnx.brevitas", "qonnx", "finn"):
		return qonnx, true
	case domain == "com.microsoft":
		return microsoft, true
	}
	return 0, false
}

// find is the row of an op; nil if there is none. QONNX's operators are found without a domain as
// well: the standard has none of their names, and exporters of 2021 wrote them so.
func (t ops) find(domain, name string) *op {
	f, ok := familyOf(domain)
	if !ok {
		return nil
	}
	if o := t[key{f, name}]; o != nil {
		return o
	}
	return t[key{qonnx, name}]
}

// unknownOp is an op that is not supported: one message for all nodes of it.
type unknownOp struct {
	first *ir.Error
	nodes int
}

// errCounted is the error of a node if another node has reported the same op.
var errCounted = errors.New("an op that is not supported, once more")

// unsupportedError returns the error of n, an op without a row. The first node of each op reports
// it and counts the others.
func (b *builder) unsupportedError(n *node) error {
	id := n.GetDomain() + ":" + n.GetOpType()
	if u := b.unknown[id]; u != nil {
		u.nodes++
		u.first.Msg = fmt.Sprintf("this op, which %d nodes have, is not supported", u.nodes)
		return errCounted
	}
	e := &ir.Error{Pos: ir.Pos{File: b.file}, Node: n.label, Msg: "this op is not supported",
		Help: b.unsupportedHelp(n)}
	if !dynamic(n) { // a network that begins behind it would have the scale as an input
		b.faults.Unsupported = append(b.faults.Unsupported, e)
	}
	b.unknown[id] = &unknownOp{first: e, nodes: 1}
	return e
}

// dynamic reports whether n computes its scale from its input, as onnxruntime's quantize_dynamic
// writes it.
func dynamic(n *node) bool { return strings.HasPrefix(n.GetOpType(), "DynamicQuantize") }

// unsupportedHelp returns help for n, an op without a row.
func (b *builder) unsupportedHelp(n *node) string {
	d, name := n.GetDomain(), n.GetOpType()
	switch {
	case dynamic(n):
		return "its scale is computed anew for each input; " +
			"quantize with constant scales, as onnxruntime's quantize_static does"
	case strings.HasPrefix(d, "finn.custom_op.fpgadataflow"):
		return "FINN's step_convert_to_hw wrote this file for an FPGA: " +
			"give the QONNX or ONNX file from before that step"
	case b.ops[key{qonnx, name}] != nil:
		return fmt.Sprintf("%s is read without a domain and under qonnx.custom_op.general, onnx.brevitas and "+
			"finn.custom_op.general, but not under %q", name, d)
	case b.ops[key{standard, name}] != nil:
		return fmt.Sprintf("the %s that is supported is the standard's, which has no domain; this one is of %q", name,
			d)
	}
	return "docs/import-onnx.md lists the ops that are"
}
