package toolchain

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ripc/targets"
)

// Object is a relocatable ELF object in memory.
type Object struct {
	Name string // for messages
	Data []byte
}

// linkArch returns what ld.lld needs to know of an architecture. The page size is the largest that a kernel for it may
// use (Linux on Arm runs with 4, 16 or 64 KiB): it costs address space, but no byte of the file.
func linkArch(t targets.Target) (emulation, pageSize string, err error) {
	switch t.Arch {
	case "x86_64":
		return "elf_x86_64", "4096", nil
	case "aarch64":
		return "aarch64linux", "65536", nil
	case "arm":
		return "armelf_linux_eabi", "65536", nil
	}
	return "", "", fmt.Errorf("target %s: no linker settings for architecture %q; there are x86_64, aarch64 and arm", t.Name, t.Arch)
}

// LinkShared links objs into the shared library out for tg. Only the symbols in exports are visible; functions and
// data that they do not reach are dropped. The result needs no other library, and depends on nothing but the
// arguments. It appears under its name complete or not at all.
//
// It fails with *ToolError (which lists undefined symbols), *ExportError, *SymbolError, or ctx's error.
func (t *Tools) LinkShared(ctx context.Context, tg targets.Target, objs []Object, exports []string, soname, out string) error {
	emulation, page, err := linkArch(tg)
	if err != nil {
		return err
	}
	if err := checkExports(exports); err != nil {
		return err
	}
	args := []string{
		"-shared", "-m", emulation, "-soname", soname, "--version-script=exports",
		"--no-undefined", "--undefined-version", "--fatal-warnings", "--gc-sections", "--build-id=none",
		"--hash-style=gnu", "--threads=1", "-z", "noexecstack", "-z", "now", "-z", "max-page-size=" + page,
	}
	return t.produce(out, func(dir, tmp string) error {
		files, err := writeObjects(dir, objs)
		if err != nil {
			return err
		}
		script := "{ global: " + strings.Join(exports, "; ") + "; local: *; };\n"
		if err := os.WriteFile(filepath.Join(dir, "exports"), []byte(script), 0o666); err != nil {
			return err
		}
		if _, err := t.run(ctx, dir, "ld.lld", nil, append(append(args, "-o", tmp), files...)...); err != nil {
			return err
		}
		lib, err := os.ReadFile(tmp)
		if err != nil {
			return err
		}
		return CheckShared(lib, exports)
	})
}

// Archive links objs into one relocatable object, in which only the symbols in exports stay visible, and puts it into
// the static library out. Two archives with equal kernels can thus be linked into one program. It fails as
// LinkShared does; undefined symbols are an *UndefinedError.
func (t *Tools) Archive(ctx context.Context, tg targets.Target, objs []Object, exports []string, member, out string) error {
	emulation, _, err := linkArch(tg)
	if err != nil {
		return err
	}
	if err := checkExports(exports); err != nil {
		return err
	}
	return t.produce(out, func(dir, tmp string) error {
		files, err := writeObjects(dir, objs)
		if err != nil {
			return err
		}
		args := append([]string{"-r", "-m", emulation, "--threads=1", "-o", "all"}, files...)
		if _, err := t.run(ctx, dir, "ld.lld", nil, args...); err != nil {
			return err
		}
		member = fileName(member) + ".o"
		args = nil
		for _, e := range exports {
			args = append(args, "--keep-global-symbol="+e)
		}
		if _, err := t.run(ctx, dir, "llvm-objcopy", nil, append(args, "all", member)...); err != nil {
			return err
		}
		obj, err := os.ReadFile(filepath.Join(dir, member))
		if err != nil {
			return err
		}
		if err := CheckObject(obj, exports); err != nil {
			return err
		}
		// llvm-ar adds to an archive that exists, even to an empty file.
		if err := os.Remove(tmp); err != nil {
			return err
		}
		_, err = t.run(ctx, dir, "llvm-ar", nil, "rcsD", tmp, member)
		return err
	})
}

// produce calls f with a temporary folder and the path of a temporary file beside out, and renames that file to out
// if f succeeds.
func (t *Tools) produce(out string, f func(dir, tmp string) error) error {
	abs, err := filepath.Abs(out)
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	file, err := os.CreateTemp(filepath.Dir(abs), ".ripc-*")
	if err != nil {
		return fmt.Errorf("%s: cannot write beside it: %w", out, err)
	}
	tmp := file.Name()
	file.Close()
	defer os.Remove(tmp) // fails once the file is renamed
	err = inTempDir(func(dir string) error { return f(dir, tmp) })
	if err == nil {
		err = os.Rename(tmp, abs)
	}
	if err != nil {
		return fmt.Errorf("linking %s: %w", out, err)
	}
	return nil
}

// writeObjects stores objs in dir under names that messages of the linker can show, and returns the names.
func writeObjects(dir string, objs []Object) ([]string, error) {
	var files []string
	for i, o := range objs {
		file := fmt.Sprintf("%d-%s.o", i, fileName(o.Name))
		if err := os.WriteFile(filepath.Join(dir, file), o.Data, 0o666); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// fileName replaces what is not fit for a file name.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), 100)]
}

// checkExports fails unless there is something to export, under good names.
func checkExports(exports []string) error {
	if len(exports) == 0 {
		return fmt.Errorf("no symbols to export: the library could not be used")
	}
	return checkSymbols(exports)
}
