package zoo

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ripc/internal/safetensors"
)

// model is a model file in the making.
type model struct {
	Name    string
	Inputs  []attrs
	Source  attrs // of the weights
	Nodes   []node
	Outputs []string
	// stored are weights that are given, beside the statistics, and not generated from the seed.
	stored map[string]safetensors.Tensor
}

type attrs map[string]any

type node struct {
	Name   string   `json:"name"`
	Op     string   `json:"op"`
	Inputs []string `json:"inputs"`
	Attrs  attrs    `json:"attrs,omitempty"`
}

// add appends a node and returns the name of its result.
func (m *model) add(name, op string, a attrs, inputs ...string) string {
	m.Nodes = append(m.Nodes, node{name, op, inputs, a})
	return name
}

// store gives a weight of a node.
func (m *model) store(name string, shape []int, data ...float32) {
	if m.stored == nil {
		m.stored = map[string]safetensors.Tensor{}
	}
	m.stored[name] = tensorOf(shape, data)
}

// text is the model as JSON, one node a line.
func (m *model) text() ([]byte, error) {
	var b bytes.Buffer
	var err error
	line := func(v any) string {
		s, e := json.Marshal(v)
		if e != nil {
			err = e
		}
		return string(s)
	}
	fmt.Fprintf(&b, "{\n  \"format\": \"ripc.model/1\",\n  \"name\": %s,\n  \"inputs\": %s,\n  \"weights\": %s,\n  "+
		"\"nodes\": [\n",
		line(m.Name), line(m.Inputs), line(m.Source))
	for i, d := range m.Nodes {
		comma := ","
		if i == len(m.Nodes)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "    %s%s\n", line(d), comma)
	}
	fmt.Fprintf(&b, "  ],\n  \"outputs\": %s\n}\n", line(m.Outputs))
	return b.Bytes(), err
}
