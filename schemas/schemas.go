// Package schemas holds the published JSON Schemas of ripc's file formats, the very files that the
// compiler checks against.
package schemas

import _ "embed"

// ModelURL is the $id of the schema that Model returns.
const ModelURL = "urn:ripc:schemas:model:1"

//go:embed model.json
var model []byte

// Model is model.json: JSON Schema 2020-12 for networks (format "ripc.model/1"), with every op and
// its attributes.
func Model() []byte { return append([]byte(nil), model...) }
