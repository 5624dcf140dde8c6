package ripcjson

import (
	"ripc/graph"
)

// reason reads why a layer stays float, as an importer found it and writeReason wrote it.
func (b *builder) reason(n *rawNode) graph.Verdict {
	at := n.at + "/reason"
	code := b.doc.text(at + "/code")
	if code == "" {
		return graph.Verdict{}
	}
	r, err := graph.ParseReason(code)
	if err != nil {
		b.fault(n, "leave reason out: importers write it", "%v is none that ripc has", err)
		return graph.Verdict{}
	}
	if graph.Bitserial(n.op) {
		b.fault(n, "leave reason out: importers write it", "a bitserial layer has a reason to stay float")
	}
	v := graph.Verdict{Kind: graph.Glue, Reason: r, Where: b.doc.text(at + "/where")}
	switch {
	case graph.Products(n.op):
		v.Kind = graph.Float
	case n.op == "quantize" || n.op == "threshold":
		v.Kind = graph.Bits
	}
	for _, f := range v.Args.Facts() {
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
	return v
}

// reasonObject writes what reason reads.
func reasonObject(v graph.Verdict) object {
	o := object{{"code", v.Reason.String()}}
	if v.Where != "" {
		o.set("where", v.Where)
	}
	var args object
	for _, f := range v.Args.Facts() {
		if !f.Zero() {
			args.set(f.Name, f.Get())
		}
	}
	if len(args) > 0 {
		o.set("args", args)
	}
	return o
}
