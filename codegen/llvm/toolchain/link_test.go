package toolchain

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ripc/internal/abi"
	"ripc/internal/need"
	"ripc/targets"
)

const testSection = ".ripc.describe"

// parts compiles what a small artifact for tg consists of.
func parts(t *testing.T, tools *Tools, tg targets.Target) []Object {
	t.Helper()
	ctx := context.Background()
	code, err := tools.Compile(ctx, nil, []byte(popcountLL), tg, Obj)
	if err != nil {
		t.Fatal(err)
	}
	weights, err := Constants(tg, []Blob{
		{"other", [][]byte{[]byte("xyz")}}, {"weights", [][]byte{bytes.Repeat([]byte{7}, 10), bytes.Repeat([]byte{7}, 6)}}, {"empty", nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := Section(tg, testSection, "net_text", []byte(`{"format":"x"}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	return []Object{{Name: "code", Data: code}, weights, {Name: "text", Data: text}}
}

func TestLinkShared(t *testing.T) {
	tools := needTools(t)
	for _, name := range []string{"rpi3", "x86-64-v3", "rpi2"} {
		tg := target(t, name)
		objs, dir := parts(t, tools, tg), t.TempDir()
		var libs [2][]byte
		for i, file := range []string{"a.so", "b.so"} {
			out := filepath.Join(dir, file)
			if err := tools.LinkShared(context.Background(), tg, objs, []string{"net_run"}, "net.so", out); err != nil {
				t.Fatal(err)
			}
			lib, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			libs[i] = lib
		}
		if !bytes.Equal(libs[0], libs[1]) {
			t.Errorf("%s: linking twice gives different files", name)
		}
		if len(libs[0]) > 4096 {
			t.Errorf("%s: %d bytes", name, len(libs[0]))
		}
		checkLibrary(t, name, libs[0])
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 2 {
			t.Errorf("%s: files left behind: %v", name, left)
		}
	}
}

func checkLibrary(t *testing.T, name string, lib []byte) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(lib))
	if err != nil {
		t.Fatal(err)
	}
	if f.Type != elf.ET_DYN {
		t.Errorf("%s: %v", name, f.Type)
	}
	if so, err := f.DynString(elf.DT_SONAME); err != nil || len(so) != 1 || so[0] != "net.so" {
		t.Errorf("%s: soname %v, %v", name, so, err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_GNU_STACK && p.Flags&elf.PF_X != 0 {
			t.Errorf("%s: executable stack", name)
		}
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_W != 0 && p.Flags&elf.PF_X != 0 {
			t.Errorf("%s: a segment is writable and executable", name)
		}
	}
	section := f.Section(testSection)
	if section == nil {
		t.Fatalf("%s: no section %s", name, testSection)
	}
	if text, err := section.Data(); err != nil || string(text) != "{\"format\":\"x\"}\x00" {
		t.Errorf("%s: section holds %q, %v", name, text, err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]uint64{}
	for _, s := range symbols {
		values[s.Name] = s.Value
	}
	if _, ok := values["unused"]; ok {
		t.Errorf("%s: an unused function was kept", name)
	}
	for _, s := range []string{"weights", "other", "empty"} {
		if v, ok := values[s]; !ok || v%abi.Align != 0 {
			t.Errorf("%s: %s at %#x (defined: %v)", name, s, v, ok)
		}
	}
}

func TestLinkErrors(t *testing.T) {
	tools := needTools(t)
	tg, ctx := target(t, "rpi3"), context.Background()
	objs, dir := parts(t, tools, tg), t.TempDir()
	out := filepath.Join(dir, "x.so")
	link := func(objs []Object, exports ...string) error {
		return tools.LinkShared(ctx, tg, objs, exports, "x.so", out)
	}
	var te *ToolError
	if err := link(objs[:1], "net_run"); !errors.As(err, &te) || !strings.Contains(err.Error(), "weights") {
		t.Errorf("undefined symbol: %v", err)
	}
	var ee *ExportError
	if err := link(objs, "net_run", "net_stop"); !errors.As(err, &ee) || len(ee.Missing) != 1 || ee.Missing[0] != "net_stop" {
		t.Errorf("undefined export: %v", err)
	}
	var se *SymbolError
	if err := link(objs, "net-run"); !errors.As(err, &se) {
		t.Errorf("bad export: %v", err)
	}
	if err := link(objs); err == nil {
		t.Error("a library without exports was linked")
	}
	if err := tools.LinkShared(ctx, target(t, "x86-64-v3"), objs, []string{"net_run"}, "x.so", out); !errors.As(err, &te) {
		t.Errorf("objects of another architecture: %v", err)
	}
	if err := tools.Archive(ctx, tg, objs[:1], []string{"net_run"}, "x", out); err == nil || !strings.Contains(err.Error(), "weights") {
		t.Errorf("archive with an undefined symbol: %v", err)
	}
	if err := tools.LinkShared(ctx, tg, objs, []string{"net_run"}, "x.so", filepath.Join(dir, "no", "x.so")); err == nil {
		t.Error("a missing folder was accepted")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("files left behind: %v", left)
	}
}

func TestArchive(t *testing.T) {
	tools := needTools(t)
	for _, name := range []string{"rpi3", "x86-64-v3", "rpi2"} {
		tg := target(t, name)
		objs, dir := parts(t, tools, tg), t.TempDir()
		var files [2][]byte
		for i, file := range []string{"a.a", "b.a"} {
			out := filepath.Join(dir, file)
			if err := tools.Archive(context.Background(), tg, objs, []string{"net_run"}, "net", out); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			files[i] = data
		}
		if !bytes.HasPrefix(files[0], []byte("!<arch>\n")) || !bytes.Equal(files[0], files[1]) {
			t.Errorf("%s: not an archive, or not the same one twice", name)
		}
	}
}

// TestArchiveInC links the archive of the host into a C program and runs it.
func TestArchiveInC(t *testing.T) {
	tools := needTools(t)
	cc := need.Tool(t, "cc")
	tg, dir := target(t, targets.HostName), t.TempDir()
	lib := filepath.Join(dir, "net.a")
	if err := tools.Archive(context.Background(), tg, parts(t, tools, tg), []string{"net_run"}, "net", lib); err != nil {
		t.Fatal(err)
	}
	src := filepath.Join(dir, "main.c")
	code := "int net_run(void); int weights = 1; int main(void) { return net_run() == 48 && weights == 1 ? 0 : 1; }\n"
	if err := os.WriteFile(src, []byte(code), 0o666); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(dir, "main")
	if out, err := exec.Command(cc, "-o", bin, src, lib).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := exec.Command(bin).CombinedOutput(); err != nil {
		t.Errorf("16 bytes of 7 have 48 set bits, and weights is the program's own: %v %s", err, out)
	}
}

func TestObjectErrors(t *testing.T) {
	tg := target(t, "rpi3")
	var se *SymbolError
	if _, err := Constants(tg, []Blob{{"a b", nil}}); !errors.As(err, &se) || se.Repeated {
		t.Errorf("bad symbol: %v", err)
	}
	if _, err := Constants(tg, []Blob{{"a", nil}, {"a", nil}}); !errors.As(err, &se) || !se.Repeated {
		t.Errorf("repeated symbol: %v", err)
	}
	if _, err := Section(tg, `.x"`, "s", nil, 0); err == nil {
		t.Error("bad section name was accepted")
	}
	if _, err := Section(tg, ".x", "s", []byte("a\x00b"), 0); err == nil {
		t.Error("text with a NUL byte was accepted")
	}
	if err := CheckShared(strings.NewReader("not ELF"), nil); err == nil {
		t.Error("rubbish is no library")
	}
}
