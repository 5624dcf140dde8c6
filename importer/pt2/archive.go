package pt2

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
)

const (
	maxFile    = math.MaxInt32 // bytes
	maxJSON    = 256 << 20     // bytes of one JSON file
	baseMemory = 256 << 20     // bytes that any file may use, whatever its length
	// tokenCost is the largest number of bytes in memory for a comma or a bracket of JSON.
	tokenCost = 160
)

// archive is the content of a file.
type archive struct {
	file    string
	entries map[string][]byte // by path without the first folder
	memory  int64             // that JSON may take
	program program
	weights map[string]payload // parameters, buffers and constants by name
}

// resave says how to write an archive that can be read.
const resave = "save it again with PyTorch 2.9 or later: " +
	`torch.export.save(torch.export.export(net.eval(), (example,)), "net.pt2")`

// openArchive reads the parts of an archive except for the weights' bytes.
func openArchive(file string, data []byte, memory int64) *archive {
	a := &archive{file: file, memory: memory + 4*int64(len(data))}
	a.entries, a.weights = map[string][]byte{}, map[string]payload{}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		panic(errorf(file, resave, "not a readable .pt2 archive: %v", err))
	}
	for _, f := range z.File {
		_, name, nested := strings.Cut(f.Name, "/")
		if !nested { // PyTorch before 2.8
			name = f.Name
		}
		if strings.HasSuffix(name, "/") {
			continue
		}
		offset, err := f.DataOffset()
		size := f.UncompressedSize64
		switch {
		case err != nil:
			panic(errorf(file, "", "entry %q: %v", f.Name, err))
		case f.Method != zip.Store || f.CompressedSize64 != size:
			panic(errorf(file, "keep the archive as torch.export.save writes it: its entries are not compressed",
				"entry %q is compressed", f.Name))
		case offset > int64(len(data)) || size > uint64(int64(len(data))-offset):
			panic(errorf(file, "copy the file again", "entry %q reaches beyond the end of the file", f.Name))
		case a.entries[name] != nil:
			panic(errorf(file, "", "entry %q is there twice", f.Name))
		}
		a.entries[name] = data[offset : offset+int64(size) : offset+int64(size)]
	}
	model := a.model()
	a.decode("models/"+model+".json", &a.program)
	a.checkVersion()
	for _, kind := range []string{"weights", "constants"} {
		folder := "data/" + kind + "/"
		name := folder + model + "_" + kind + "_config.json"
		if a.entries[name] == nil {
			panic(a.refusePickle(kind))
		}
		var config struct {
			Config map[string]payload `json:"config"`
		}
		a.decode(name, &config)
		for fqn, p := range config.Config {
			p.Path = folder + p.Path
			a.weights[fqn] = p
		}
	}
	return a
}

// refusePickle is the error of an archive with pickled weights or constants.
func (a *archive) refusePickle(kind string) error {
	const msg = "the %s are pickled, as PyTorch %s writes them; pickles are not read"
	return errorf(a.file, resave, msg, kind, a.program.TorchVersion)
}

// model finds the name of the archive's only exported program.
func (a *archive) model() string {
	var found []string
	for name := range a.entries {
		if dir, base := path.Split(name); dir == "models/" && path.Ext(base) == ".json" {
			found = append(found, strings.TrimSuffix(base, ".json"))
		}
	}
	has := func(prefix string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(a.entries)),
			func(name string) bool { return strings.HasPrefix(name, prefix) })
	}
	order, given := a.entries["byteorder"]
	switch {
	case len(found) > 1:
		panic(errorf(a.file, "save each in an archive of its own", "the archive has %d programs", len(found)))
	case len(found) == 1 && given && string(order) != "little":
		panic(errorf(a.file, "save it on a little-endian machine", "the byte order is %q", order))
	case len(found) == 1:
		return found[0]
	case has("serialized_exported_program.json"):
		a.decode("serialized_exported_program.json", &a.program)
		panic(a.refusePickle("weights"))
	case has("data/aotinductor"):
		panic(errorf(a.file, resave, "the archive holds machine code of AOTInductor and no exported program"))
	case has("data.pkl"):
		panic(errorf(a.file, resave, "the archive is a pickle (torch.save or torch.jit.save) and no exported program"))
	}
	panic(errorf(a.file, resave, "the archive holds no exported program"))
}

// decode reads an entry of JSON.
func (a *archive) decode(name string, to any) {
	data := a.entries[name]
	tokens := bytes.Count(data, []byte(",")) + bytes.Count(data, []byte("{")) + bytes.Count(data, []byte("["))
	if a.memory -= int64(len(data)) + tokenCost*int64(tokens); len(data) > maxJSON || a.memory < 0 {
		panic(errorf(a.file, "", "entry %q: reading it would take too much memory", name))
	}
	if err := json.Unmarshal(data, to); err != nil {
		panic(errorf(a.file, resave, "entry %q: %s", name, jsonFault(err)))
	}
}

// jsonFault describes an error of package json without the names of Go's types.
func jsonFault(err error) string {
	switch e := err.(type) {
	case *json.SyntaxError:
		return fmt.Sprintf("byte %d: %v", e.Offset, e)
	case *json.UnmarshalTypeError:
		return fmt.Sprintf("byte %d: field %q holds a %s", e.Offset, e.Field, e.Value)
	}
	return err.Error()
}

// The versions of the program's schema that are known. Later minor versions are read like the last.
const schemaMajor, schemaMinor = 8, 14

// checkVersion refuses programs of another schema.
func (a *archive) checkVersion() {
	v := a.program.SchemaVersion
	if v.Major != schemaMajor {
		help := fmt.Sprintf("save it with a version of PyTorch that writes schema %d: 2.9 does", schemaMajor)
		panic(errorf(a.file, help, "the program has schema version %d.%d (PyTorch %s), which is not known",
			v.Major, v.Minor, a.program.TorchVersion))
	}
}
