package explain

import (
	"slices"
	"strings"

	"ripc/graph"
)

// Rounding is one kind of few bits that nodes were taken for though the file's floats differ from
// them by rounding.
type Rounding struct {
	Code  string   `json:"code"` // of the reason, one of package graph's
	What  string   `json:"what"` // in words, such as "1-bit weights"
	Nodes []string `json:"nodes"`
}

// kindsOfRounding has a row for each reason of graph.Graph.Roundings: the form that the nodes were
// taken for.
func kindsOfRounding() map[graph.Reason]string {
	return map[graph.Reason]string{
		graph.WhyFewFolded:  "%(weights) weights",
		graph.WhyFolded:     "%(bits)-bit quantizer",
		graph.WhyFoldedSign: "sign of three values",
		graph.WhyFoldedSum:  "remainder of a sum with terms that cancel",
	}
}

// Roundings groups the roundings of a graph by kind, in the order in which these come.
func Roundings(all []graph.Verdict) []Rounding {
	var list []Rounding
	for _, v := range all {
		what := strings.NewReplacer(words(v.AsReason())...).Replace(kindsOfRounding()[v.Reason])
		i := slices.IndexFunc(list, func(r Rounding) bool { return r.Code == v.Reason.String() && r.What == what })
		if i < 0 {
			list, i = append(list, Rounding{Code: v.Reason.String(), What: what}), len(list)
		}
		list[i].Nodes = append(list[i].Nodes, v.Where)
	}
	return list
}
