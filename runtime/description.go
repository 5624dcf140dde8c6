package runtime

import (
	"encoding/json"
	"fmt"
	"io"

	"ripc/internal/container"
	"ripc/internal/files"
	"ripc/runtime/describe"
)

// maxDescription bounds the JSON in an artifact, in bytes.
const maxDescription = 64 << 20

// ReadDescription reads the description out of an artifact of any architecture, without running any
// of it, and checks it: the checksum of the file, the format, the architecture against that of the
// code, names, sizes, and where operands lie. Libraries that others have linked of ripc's
// archives or C source have no checksum. Errors are *FileError or *FormatError.
func ReadDescription(path string) (*describe.Artifact, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, &FileError{Path: path, Msg: "cannot open it", Err: files.Cause(err)}
	}
	defer file.Close()
	a, _, err := descriptionOf(path, file)
	return a, err
}

// section is the content of an artifact's section describe.Section.
type section struct {
	text []byte // JSON, without the closing NUL
	sum  []byte // the seal, a checksum of the artifact; nil if it has none
}

// descriptionOf is ReadDescription for the artifact in file; path is for messages.
func descriptionOf(path string, file io.ReaderAt) (*describe.Artifact, section, error) {
	f, err := container.Open(file)
	if err != nil {
		return nil, section{}, &FileError{Path: path, Msg: "it is no compiled network", Err: err}
	}
	s := f.Section()
	if s == nil {
		return nil, section{}, &FileError{Path: path,
			Msg: fmt.Sprintf("no section %s in this %s file: it is no compiled network, or stripped, or was compiled "+
				"without a description", describe.Section, f.Format())}
	}
	if s.Size() > maxDescription {
		return nil, section{}, &FileError{Path: path,
			Msg: fmt.Sprintf("section %s claims %d bytes, at most %d are read", describe.Section, s.Size(),
				maxDescription)}
	}
	content := make([]byte, s.Size())
	if _, err := io.ReadFull(s, content); err != nil {
		return nil, section{}, &FileError{Path: path, Msg: "cannot read section " + describe.Section, Err: err}
	}
	text, sum, err := container.Cut(content)
	if err == nil && sum != nil {
		err = container.Check(f, sum)
	}
	if err != nil {
		return nil, section{}, &FileError{Path: path, Msg: "cannot be trusted", Err: err}
	}
	a, err := parseDescription(path, text)
	if err != nil {
		return nil, section{}, err
	}
	if got := f.Arch(); got != a.Arch {
		return nil, section{}, &FileError{Path: path,
			Msg: fmt.Sprintf("the description says arch %q, the %s header says %q", a.Arch, f.Format(), got)}
	}
	return a, section{text, sum}, nil
}

// parseDescription decodes and checks the JSON. The format is looked at first: nothing else is
// believed of another one.
func parseDescription(path string, text []byte) (*describe.Artifact, error) {
	var head struct {
		Format   string `json:"format"`
		Compiler string `json:"compiler"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, &FileError{Path: path, Msg: "the description is not valid JSON", Err: err}
	}
	if head.Format != describe.Format {
		return nil, &FormatError{Path: path, Got: head.Format, Want: describe.Format, Compiler: head.Compiler}
	}
	a := new(describe.Artifact)
	if err := json.Unmarshal(text, a); err != nil {
		return nil, &FileError{Path: path, Msg: "the description does not fit format " + describe.Format, Err: err}
	}
	if err := checkDescription(a); err != nil {
		return nil, &FileError{Path: path, Msg: "the description is wrong", Err: err}
	}
	return a, nil
}
