package container_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ripc/codegen/llvm/toolchain"
	"ripc/internal/container"
	"ripc/internal/need"
	"ripc/runtime/describe"
)

// source is a library with code, data, and a description that has room for a checksum.
const source = `	.text
	.globl f
	.type f,%function
f:	.zero 64
	.data
	.zero 32
	.section ` + describe.Section + `,"a"
	.asciz "{}"
	.zero 32
`

// link makes a library of source for an architecture.
func link(t *testing.T, triple string) []byte {
	t.Helper()
	dir := t.TempDir()
	src, obj, so := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o"), filepath.Join(dir, "a.so")
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"llvm-mc", "-triple=" + triple, "-filetype=obj", src, "-o", obj}, {"ld.lld", "-shared", obj, "-o", so}} {
		tool, err := toolchain.Lookup(args[0])
		need.OK(t, err)
		if out, err := exec.Command(tool, args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	lib, err := os.ReadFile(so)
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// check is container.Check of a library as a loader calls it.
func check(lib []byte) error {
	f, err := container.Open(bytes.NewReader(lib))
	if err != nil {
		return err
	}
	s := f.Section()
	if s == nil {
		return errors.New("no section")
	}
	content, err := io.ReadAll(s)
	if err != nil {
		return err
	}
	_, sum, err := container.Cut(content)
	if err != nil {
		return err
	}
	return container.Check(f, sum)
}

// Every bit that a loader maps counts, in libraries of 64 and of 32 bits, and so do the ends of the file.
func TestEveryBit(t *testing.T) {
	for _, triple := range []string{"x86_64-linux-gnu", "armv7-linux-gnueabihf"} {
		lib := link(t, triple)
		if err := check(lib); !errors.Is(err, container.ErrDamaged) {
			t.Errorf("%s: before it is sealed: %v", triple, err)
		}
		if err := container.Seal(lib); err != nil {
			t.Fatal(err)
		}
		if err := check(lib); err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(lib))
		if err != nil {
			t.Fatal(err)
		}
		head, sections, end := 64, [][2]int{{40, 48}, {58, 64}}, 0
		if f.Class == elf.ELFCLASS32 {
			head, sections = 52, [][2]int{{32, 36}, {46, 52}}
		}
		var mapped []*elf.Prog
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD {
				mapped, end = append(mapped, p), max(end, int(p.Off+p.Filesz))
			}
		}
		for at := range end {
			inside := false
			for _, p := range mapped {
				inside = inside || uint64(at) >= p.Off && uint64(at) < p.Off+p.Filesz
			}
			for _, s := range sections {
				inside = inside && (at < s[0] || at >= s[1])
			}
			// Where in the file other segments than loadable ones begin is read by nobody.
			if at >= head && at < head+len(f.Progs)*map[elf.Class]int{elf.ELFCLASS64: 56, elf.ELFCLASS32: 32}[f.Class] || !inside {
				continue
			}
			for bit := range 8 {
				lib[at] ^= 1 << bit
				if check(lib) == nil {
					t.Errorf("%s: bit %d of byte %d is not looked at", triple, bit, at)
				}
				lib[at] ^= 1 << bit
			}
		}
		if err := check(lib[:end-1]); err == nil {
			t.Errorf("%s: a file that ends early passes", triple)
		}
	}
}

// A library without its symbols is the same library.
func TestStripped(t *testing.T) {
	lib := link(t, "x86_64-linux-gnu")
	if err := container.Seal(lib); err != nil {
		t.Fatal(err)
	}
	tool, err := toolchain.Lookup("llvm-objcopy")
	need.OK(t, err)
	path := filepath.Join(t.TempDir(), "a.so")
	if err := os.WriteFile(path, lib, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "--strip-all", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	stripped, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(stripped, lib) {
		t.Fatal("nothing was stripped")
	}
	if err := check(stripped); err != nil {
		t.Error(err)
	}
}

func TestCut(t *testing.T) {
	sum := bytes.Repeat([]byte{7}, container.SealSize)
	for _, c := range []struct {
		section, text string
		sum           []byte
		fails         bool
	}{
		{"{}\x00", "{}", nil, false},
		{"{}", "{}", nil, false},
		{"{}\x00" + string(sum), "{}", sum, false},
		{"{}\x00" + string(sum[1:]), "", nil, true},
		{"{}\x00{}\x00", "", nil, true},
		{string(container.Compress([]byte("{}"))) + "\x00" + string(sum), "{}", sum, false},
		{string(container.Compress([]byte("{}"))) + "\x00" + string(sum[1:]), "", nil, true},
		{string(container.Compress([]byte("{}"))[:5]), "", nil, true},
	} {
		text, got, err := container.Cut([]byte(c.section))
		if string(text) != c.text || !bytes.Equal(got, c.sum) || (err != nil) != c.fails {
			t.Errorf("%q: %q, %x, %v", c.section, text, got, err)
		}
	}
	for _, bad := range [][]byte{nil, []byte("no library")} {
		if container.Seal(bad) == nil {
			t.Errorf("%q was sealed", bad)
		}
	}
}
