package runtime

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"ripc/internal/abi"
	"ripc/runtime/describe"
	"ripc/targets/cpu"
)

// maxDescription bounds the JSON in an artifact, in bytes.
const maxDescription = 64 << 20

// ReadDescription reads the description out of an artifact of any architecture, without running any of it, and checks
// it: format, architecture against the ELF header, names, sizes. Errors are *FileError or *FormatError.
func ReadDescription(path string) (*describe.Artifact, error) {
	a, _, err := readDescription(path)
	return a, err
}

// readDescription also returns the JSON text as it lies in the file, without the closing NUL.
func readDescription(path string) (*describe.Artifact, []byte, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, nil, &FileError{Path: path, Msg: "not a readable ELF file, so it is no compiled network", Err: err}
	}
	defer f.Close()
	s := f.Section(describe.Section)
	if s == nil {
		return nil, nil, &FileError{Path: path, Msg: fmt.Sprintf("no ELF section %s: it is no compiled network, or stripped", describe.Section)}
	}
	if s.Size > maxDescription {
		return nil, nil, &FileError{Path: path, Msg: fmt.Sprintf("section %s claims %d bytes, at most %d are read", describe.Section, s.Size, maxDescription)}
	}
	text, err := s.Data()
	if err != nil {
		return nil, nil, &FileError{Path: path, Msg: "cannot read section " + describe.Section, Err: err}
	}
	text = bytes.TrimRight(text, "\x00")
	a, err := parseDescription(path, text)
	if err != nil {
		return nil, nil, err
	}
	if got := cpu.OfELF(f.Machine); got != a.Arch {
		return nil, nil, &FileError{Path: path, Msg: fmt.Sprintf("the description says arch %q, the ELF header says %q", a.Arch, got)}
	}
	return a, text, nil
}

// parseDescription decodes and checks the JSON. The format is looked at first: nothing else is believed of another one.
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

// checkDescription verifies what memory will be laid out by.
func checkDescription(a *describe.Artifact) error {
	if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(a.Name) {
		return fmt.Errorf("name %q is not a C identifier", a.Name)
	}
	for _, v := range []struct {
		name  string
		bytes int64
	}{{"arena_bytes", a.ArenaBytes}, {"scratch_bytes", a.ScratchBytes}} {
		if v.bytes < 0 || v.bytes > maxTensor || v.bytes%abi.Align != 0 {
			return fmt.Errorf("%s is %d, not a multiple of %d from 0 to %d", v.name, v.bytes, abi.Align, int64(maxTensor))
		}
	}
	if len(a.Inputs) == 0 || len(a.Outputs) == 0 {
		return fmt.Errorf("%d inputs and %d outputs; at least one of each is needed", len(a.Inputs), len(a.Outputs))
	}
	for i, t := range slices.Concat(a.Inputs, a.Outputs) {
		if _, err := TensorBytes(t); err != nil {
			if i < len(a.Inputs) {
				return fmt.Errorf("input %d: %w", i, err)
			}
			return fmt.Errorf("output %d: %w", i-len(a.Inputs), err)
		}
	}
	return nil
}
