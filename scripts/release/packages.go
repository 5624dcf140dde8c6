package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strings"

	"ripc"
	"ripc/targets/guests"
)

// dockerfile installs the package of the machine that builds the image.
//
//go:embed Dockerfile
var dockerfile string

// starter is the script that starts the program inside a wheel.
//
//go:embed starter.py
var starter string

// pythonFiles is the folder of the Python package among the files of an archive.
const pythonFiles = "share/ripc/python/"

// packages packs the files of an archive for g as the systems that install programs want them.
func packages(g guests.Guest, files []file) (map[string][]byte, error) {
	made := map[string][]byte{}
	var err error
	if made[fmt.Sprintf("ripc_%s_%s.deb", ripc.Version, g.Debian)], err = deb(g.Debian, files); err != nil {
		return nil, err
	}
	if tag := "py3-none-" + g.Wheel; g.Wheel != "" {
		made[fmt.Sprintf("ripc-%s-%s.whl", ripc.Version, tag)], err = wheel(tag, files)
	}
	return made, err
}

// deb is a package of Debian (deb(5)): an ar archive of a version, the facts and the files.
func deb(arch string, files []file) ([]byte, error) {
	var data []file
	folders, size := map[string]bool{}, 0
	for _, f := range files {
		size += len(f.content)
		if module, ok := strings.CutPrefix(f.path, pythonFiles); ok {
			f.path = "lib/python3/dist-packages/" + module
		}
		f.path = "usr/" + f.path
		data = append(data, f)
		for dir := path.Dir(f.path); dir != "." && !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
			data = append(data, file{dir + "/", 0o755, nil})
		}
	}
	facts := fmt.Sprintf(`Package: ripc
Version: %s
Architecture: %s
Maintainer: the authors of ripc <ripc@localhost>
Installed-Size: %d
Depends: libc6
Recommends: llvm-22 | llvm-19, lld-22 | lld-19
Suggests: qemu-user, libxgboost0, python3-numpy
Section: devel
Priority: optional
Description: compiler of neural networks with weights of few bits
 ripc compiles trained networks to one library and one C header. It also
 runs, checks and measures them. ripc doctor names missing tools.
`, ripc.Version, arch, size/1024)
	control, err := archive(".", []file{{"control", 0o644, []byte(facts)}})
	if err != nil {
		return nil, err
	}
	content, err := archive(".", data)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBufferString("!<arch>\n")
	for _, m := range []file{{"debian-binary", 0, []byte("2.0\n")}, {"control.tar.gz", 0, control},
		{"data.tar.gz", 0, content}} {
		fmt.Fprintf(out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", m.path, oldest().Unix(), 0, 0, "100644", len(m.content),
			m.content)
		if len(m.content)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), nil
}

// wheel is a package of Python (PEP 427). The programs lie inside the Python package, and a script
// starts ripc.
func wheel(tag string, files []file) ([]byte, error) {
	base := "ripc-" + ripc.Version
	info := base + ".dist-info/"
	packed := []file{
		{info + "METADATA", 0o644, fmt.Appendf(nil, `Metadata-Version: 2.1
Name: ripc
Version: %s
Summary: Compiler of neural networks with weights of few bits
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/plain

ripc compiles trained networks to one library and one C header, and runs, checks and measures them.
Compiling needs LLVM (apt-get install llvm-22 lld-22); ripc doctor names missing tools.
`, ripc.Version)},
		{info + "WHEEL", 0o644, fmt.Appendf(nil,
			"Wheel-Version: 1.0\nGenerator: ripc\nRoot-Is-Purelib: false\nTag: %s\n", tag)},
		{base + ".data/scripts/ripc", 0o755, []byte(starter)},
	}
	for _, f := range files {
		switch dir, file := path.Split(f.path); dir {
		case "bin/":
			f.path = "ripc/bin/" + file
		case pythonFiles + "ripc/":
			f.path = "ripc/" + file
		case "share/doc/ripc/":
			f.path = info + "licenses/" + file
		default:
			continue
		}
		packed = append(packed, f)
	}
	packed, err := sorted(packed)
	if err != nil {
		return nil, err
	}
	var record strings.Builder
	for _, f := range packed {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range slices.Concat(packed, []file{{info + "RECORD", 0o644, []byte(record.String())}}) {
		h := &zip.FileHeader{Name: f.path, Method: zip.Deflate, Modified: oldest()}
		h.ExternalAttrs = uint32(0o100000|f.mode) << 16
		entry, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	err = w.Close()
	return out.Bytes(), err
}
