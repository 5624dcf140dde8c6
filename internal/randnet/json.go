package randnet

import (
	"encoding/json"
)

// Join makes one model of several, side by side.
func Join(texts []map[string]any, seed int) []byte {
	all := map[string]any{"format": "ripc.model/1", "name": "random",
		"weights": map[string]any{"init": "random", "seed": seed}}
	var inputs, nodes []any
	var outputs []string
	for _, t := range texts {
		inputs = append(inputs, t["inputs"].([]any)...)
		for _, n := range t["nodes"].([]map[string]any) {
			nodes = append(nodes, n)
		}
		outputs = append(outputs, t["outputs"].([]string)...)
	}
	all["inputs"], all["nodes"], all["outputs"] = inputs, nodes, outputs
	return Encode(all)
}

// Encode is a model as JSON text.
func Encode(model map[string]any) []byte {
	text, err := json.MarshalIndent(model, "", " ")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return text
}
