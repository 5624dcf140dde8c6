package container_test

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"ripc/internal/container"
)

// damagedBundle is a bundle of parts with any headers, as others may write it.
func damagedBundle(t testing.TB, change func(*zip.FileHeader), parts ...container.Part) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("RIPC")
	w := zip.NewWriter(&out)
	w.SetOffset(int64(out.Len()))
	for _, p := range parts {
		h := &zip.FileHeader{Name: p.Name, CompressedSize64: uint64(len(p.Data)), UncompressedSize64: uint64(len(p.Data))}
		change(h)
		f, err := w.CreateRaw(h)
		if err == nil {
			_, err = f.Write(p.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestBundleClaims: no part is larger than its file, nor compressed, nor there twice.
func TestBundleClaims(t *testing.T) {
	part := container.Part{Name: container.Constants, Data: []byte{1, 2, 3, 4}}
	for _, c := range []struct {
		want   string
		change func(*zip.FileHeader)
		parts  []container.Part
	}{
		{`part "constants" claims 4294967296 bytes, and the file has `, func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 32 },
			[]container.Part{part}},
		{`part "constants" is compressed`, func(h *zip.FileHeader) { h.Method = zip.Deflate }, []container.Part{part}},
		{`part "constants" is there twice`, func(*zip.FileHeader) {}, []container.Part{part, part}},
	} {
		if _, err := container.Open(bytes.NewReader(damagedBundle(t, c.change, c.parts...))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %s", err, c.want)
		}
	}
}

// FuzzOpen reads files of all formats as loaders do: whatever they hold, there is an error or an answer, and no more memory than
// the file has.
func FuzzOpen(f *testing.F) {
	bundle, err := container.NewBundle([]byte("{}"), container.Part{Name: container.Kernels + "cl", Data: []byte("f")},
		container.Part{Name: container.Constants, Data: []byte{1, 2, 3, 4}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bundle)
	f.Add(damagedBundle(f, func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 }, container.Part{Name: "../up", Data: []byte{1}}))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x00\x13\x0e.ripc.describe{}\x00\x00\x0b\x07\x01\x00\x41\x08\x0b\x01\x07"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x0b\x8f\xff\xff\xff\x0f\xff\xff\xff\xff\x0f"))
	f.Add(hugeELF())
	f.Fuzz(func(t *testing.T, file []byte) {
		opened, err := container.Open(bytes.NewReader(file))
		if err != nil {
			return
		}
		if s := opened.Section(); s != nil {
			_, _ = io.ReadAll(s)
		}
		_, _ = opened.Sum()
		segments, _ := opened.Data()
		for _, s := range segments {
			if len(s.Data) > len(file) {
				t.Errorf("a segment of %d bytes in a file of %d", len(s.Data), len(file))
			}
		}
	})
}

// hugeELF is a library that claims a segment of more bytes than memory can have.
func hugeELF() []byte {
	var out bytes.Buffer
	for _, part := range []any{elf.Header64{Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64),
		Version: 1, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64}, elf.Prog64{Type: uint32(elf.PT_LOAD), Filesz: 1 << 62}} {
		_ = binary.Write(&out, binary.LittleEndian, part)
	}
	return out.Bytes()
}

// TestBundle: each byte of a part counts, a bundle that ends early is refused, and a zip archive alone is no bundle.
func TestBundle(t *testing.T) {
	file, err := container.NewBundle([]byte("{}"), container.Part{Name: container.Kernels + "cl", Data: []byte("__kernel f")},
		container.Part{Name: container.Constants, Data: []byte{1, 2, 3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	if err := check(file); err != nil {
		t.Fatal(err)
	}
	f, err := container.Open(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if b := f.(*container.Bundle); b.Arch() != container.OpenCL || string(b.Part(container.Kernels+"cl")) != "__kernel f" || b.Part("other") != nil {
		t.Errorf("arch %q", b.Arch())
	}
	for _, part := range []string{"{}\x00", "__kernel f", "\x01\x02\x03\x04"} {
		at := bytes.Index(file, []byte(part))
		for i := range len(part) {
			bad := slices.Clone(file)
			bad[at+i] ^= 1
			if err := check(bad); err == nil {
				t.Errorf("a changed byte of %q passes", part)
			}
		}
	}
	if check(file[:len(file)-1]) == nil {
		t.Error("a file that ends early passes")
	}
	for _, n := range []int{1, 22, 100} {
		if check(append(slices.Clone(file), make([]byte, n)...)) == nil {
			t.Errorf("%d bytes behind the end pass", n)
		}
	}
	if _, err := container.Open(bytes.NewReader(file[4:])); !errors.Is(err, container.ErrUnknown) {
		t.Errorf("a zip archive is a bundle: %v", err)
	}
}
