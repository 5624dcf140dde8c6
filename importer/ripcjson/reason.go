package ripcjson

import (
	"fmt"
	"strconv"

	"ripc/graph"
	"ripc/ir"
)

// reasonHelp is the help for a reason that a model should not have.
const reasonHelp = "leave reason out: importers write it"

// reason reads why layer n stays float, as an importer found it and reasonObject wrote it.
func (b *builder) reason(n *rawNode) graph.Verdict {
	v, err := b.verdict(n.at + "/reason")
	switch {
	case err != nil:
		b.fault(n, reasonHelp, "%v", err)
		return graph.Verdict{}
	case v.Reason == graph.NoReason:
		return v
	}
	if graph.Bitserial(n.op) {
		b.fault(n, reasonHelp, "a bitserial layer has a reason to stay float")
	}
	v.Kind = graph.Glue
	switch {
	case graph.Products(n.op):
		v.Kind = graph.Float
	case n.op == "quantize" || n.op == "threshold":
		v.Kind = graph.Bits
	}
	return v
}

// roundings reads the places that an importer took for few bits though the file's floats differ
// from them by rounding.
func (b *builder) roundings() {
	const list = "/roundings"
	for i := range b.doc.list(list) {
		at := list + "/" + strconv.Itoa(i)
		v, err := b.verdict(at)
		if err != nil {
			b.add(b.doc.lines[at], "roundings", "leave roundings out: importers write them", "%v", err)
		}
		b.g.Roundings = append(b.g.Roundings, v)
	}
}

// verdict reads the object at a place that reasonObject wrote; the zero value where there is none.
func (b *builder) verdict(at string) (graph.Verdict, error) {
	code := b.doc.text(at + "/code")
	if code == "" {
		return graph.Verdict{}, nil
	}
	r, err := graph.ParseReason(code)
	if err != nil {
		return graph.Verdict{}, fmt.Errorf("%w is none that ripc has", err)
	}
	v := graph.Verdict{Reason: r, Where: b.doc.text(at + "/where")}
	for _, f := range ir.ArgFacts(&v.Args) {
		from := at + "/args/" + f.Name
		switch to := f.Value.(type) {
		case *string:
			*to = b.doc.text(from)
		case *int:
			*to = b.doc.integer(from, 0)
		case *int64:
			*to = int64(b.doc.number(from, 0))
		}
	}
	return v, nil
}

// reasonObject writes v as reason reads it.
func reasonObject(v graph.Verdict) object {
	o := object{{"code", v.Reason.String()}}
	if v.Where != "" {
		o.set("where", v.Where)
	}
	var args object
	for _, f := range ir.ArgFacts(&v.Args) {
		if !f.Zero() {
			args.set(f.Name, f.Get())
		}
	}
	if len(args) > 0 {
		o.set("args", args)
	}
	return o
}
