package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ripc"
)

// module is one that programs are linked of.
type module struct {
	path, version string
	sum           string // go.sum's
	dir           string // its source
}

// purl is the module's name among all packages (https://github.com/package-url/purl-spec).
func (m module) purl() string { return "pkg:golang/" + m.path + "@" + m.version }

// modules are the linked modules of programs, Go's own library first, then by path.
type modules []module

// modulesOf reads the linked modules in the programs themselves, and asks Go for their folders.
func modulesOf(ctx context.Context, programs ...string) (modules, error) {
	in, version := map[string]module{}, ""
	for _, p := range programs {
		info, err := buildinfo.ReadFile(p)
		if err != nil {
			return nil, err
		}
		version = strings.TrimPrefix(info.GoVersion, "go")
		for _, d := range info.Deps {
			if d.Replace != nil {
				return nil, fmt.Errorf("%s: module %s is replaced by %s, which nobody else has", p, d.Path,
					d.Replace.Path)
			}
			in[d.Path] = module{path: d.Path, version: d.Version, sum: d.Sum}
		}
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	all := modules{{path: "std", version: version, dir: strings.TrimSpace(string(root))}}
	paths := slices.Sorted(keys(in))
	listed, err := exec.CommandContext(ctx, "go", append([]string{"list", "-m", "-json"}, paths...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(listed)); ; {
		var m struct{ Path, Version, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		linked := in[m.Path]
		if linked.version != m.Version || m.Dir == "" {
			return nil, fmt.Errorf("module %s is linked in version %s, and Go has version %s in %q", m.Path,
				linked.version, m.Version, m.Dir)
		}
		linked.dir = m.Dir
		all = append(all, linked)
	}
	if len(all) != len(paths)+1 {
		return nil, fmt.Errorf("%d modules are linked, and Go lists %d", len(paths), len(all)-1)
	}
	return all, nil
}

// bill lists the modules as CycloneDX 1.5 does (https://cyclonedx.org/docs/1.5/json), without the
// fields that differ each time: a serial number and a date. Hashes there are of files; a module has
// that of go.sum, as a property.
func (ms modules) bill(product string) ([]byte, error) {
	type object = map[string]any
	component := func(kind, ref, name, version, key, value string) object {
		c := object{"type": kind, "bom-ref": ref, "name": name, "version": version, "purl": ref}
		if value != "" {
			c["properties"] = []object{{"name": key, "value": value}}
		}
		return c
	}
	const self = "pkg:golang/ripc@" + ripc.Version
	components, on := []object{}, []string{}
	for _, m := range ms {
		on = append(on, m.purl())
		components = append(components, component("library", m.purl(), m.path, m.version, "go:sum", m.sum))
	}
	text, err := json.MarshalIndent(object{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components,
		"metadata": object{
			"component": component("application", self, "ripc", ripc.Version, "ripc:archive", product),
		},
		"dependencies": []object{{"ref": self, "dependsOn": on}},
	}, "", "  ")
	return append(text, '\n'), err
}

// licenceFile matches the names of licences and notices.
var licenceFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licences are the texts that have to go with the programs.
func (ms modules) licences() ([]byte, error) {
	var all bytes.Buffer
	fmt.Fprintf(&all, "The programs hold code of these modules, each under its own licence, which follows.\n")
	for _, m := range ms {
		entries, err := os.ReadDir(m.dir)
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&all, "\n==== %s %s: %s\n\n%s\n", m.path, m.version, e.Name(), bytes.TrimSpace(text))
		}
		if !found {
			return nil, fmt.Errorf("no licence lies in %s", m.dir)
		}
	}
	return all.Bytes(), nil
}
