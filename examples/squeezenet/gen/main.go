// Command gen writes the models of examples/squeezenet and examples/convs: the JSON and, in small safetensors files,
// statistics of the normalizations, chosen so that the bits of every layer are balanced. All other weights are
// generated from a seed by whoever reads the model. From the repository's root:
//
//	go run ./examples/squeezenet/gen
//
// The same program gives the same files. It prints what it measured on inputs that it did not calibrate on.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "examples", "folder that holds squeezenet and convs")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out string) error {
	for _, v := range variants() {
		if err := v.write(filepath.Join(out, "squeezenet")); err != nil {
			return err
		}
	}
	return writeConvs(filepath.Join(out, "convs"))
}

// network is a model file in the making.
type network struct {
	Name    string
	Inputs  []attrs
	Weights attrs
	Nodes   []node
	Outputs []string
}

type attrs map[string]any

type node struct {
	Name   string   `json:"name"`
	Op     string   `json:"op"`
	Inputs []string `json:"inputs"`
	Attrs  attrs    `json:"attrs,omitempty"`
}

// add appends a node and returns the name of its result.
func (n *network) add(name, op string, a attrs, inputs ...string) string {
	n.Nodes = append(n.Nodes, node{name, op, inputs, a})
	return name
}

// text is the model as JSON, one node a line.
func (n *network) text() ([]byte, error) {
	var b bytes.Buffer
	var err error
	line := func(v any) string {
		s, e := json.Marshal(v)
		if e != nil {
			err = e
		}
		return string(s)
	}
	fmt.Fprintf(&b, "{\n  \"format\": \"ripc.model/1\",\n  \"name\": %s,\n  \"inputs\": %s,\n  \"weights\": %s,\n  \"nodes\": [\n",
		line(n.Name), line(n.Inputs), line(n.Weights))
	for i, d := range n.Nodes {
		comma := ","
		if i == len(n.Nodes)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "    %s%s\n", line(d), comma)
	}
	fmt.Fprintf(&b, "  ],\n  \"outputs\": %s\n}\n", line(n.Outputs))
	return b.Bytes(), err
}
