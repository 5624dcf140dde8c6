package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ripc/codegen/llvm/rows"
	"ripc/targets"
)

// Object is a relocatable ELF object in memory.
type Object struct {
	Name string // for messages
	Data []byte
	// More continues Data with pieces of other memory, so that large constants need not be copied.
	More [][]byte
}

// Bytes is all of the object, in one piece.
func (o Object) Bytes() []byte {
	if len(o.More) == 0 {
		return o.Data
	}
	return bytes.Join(append([][]byte{o.Data}, o.More...), nil)
}

// write stores the object in a file.
func (o Object) write(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	for _, piece := range append([][]byte{o.Data}, o.More...) {
		if _, err = f.Write(piece); err != nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}

// linkerRow returns ld.lld's settings for a target.
func linkerRow(t targets.Target) (rows.Row, error) {
	row, ok := rows.Of(t)
	if !ok {
		return row, fmt.Errorf("target %s: no linker settings for architecture %q", t.Name, t.Arch)
	}
	return row, nil
}

// LinkShared links objs into the shared library out for tg. Only the symbols in exports are
// visible; functions and data that they do not reach are dropped. The result needs no other
// library, and depends on nothing but the arguments. It appears under its name complete or not at
// all.
//
// It fails with *ToolError (which lists undefined symbols), *ExportError, *SymbolError, or ctx's
// error.
func (t *Tools) LinkShared(ctx context.Context, tg targets.Target, objs []Object, exports []string, soname,
	out string) error {
	return t.produce(tg, objs, exports, out, func(row rows.Row, files []string, dir, tmp string) error {
		return containerOf(row).link(ctx, t, row, linking{files, exports, soname, dir, tmp})
	})
}

// Archive links objs into one relocatable object, in which only the symbols in exports stay
// visible, and puts it into the static library out. Two archives with equal kernels can thus be
// linked into one program. It fails as LinkShared does; undefined symbols are an *UndefinedError.
func (t *Tools) Archive(ctx context.Context, tg targets.Target, objs []Object, exports []string, member,
	out string) error {
	return t.produce(tg, objs, exports, out, func(row rows.Row, files []string, dir, tmp string) error {
		args := append([]string{"-r", "-m", row.Emulation, "--threads=1", "-o", "all"}, files...)
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
		if err := checkFile(filepath.Join(dir, member), exports, CheckObject); err != nil {
			return err
		}
		// llvm-ar adds to an archive that exists, even to an empty file.
		if err := os.Remove(tmp); err != nil {
			return err
		}
		_, err := t.run(ctx, dir, "llvm-ar", nil, "rcsD", tmp, member)
		return err
	})
}

// checkFile checks a file with CheckShared or CheckObject.
func checkFile(path string, exports []string, check func(io.ReaderAt, []string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return check(f, exports)
}

// produce calls f with objs as files in a temporary folder, and with the path of a temporary file
// beside out. It renames that file to out if f succeeds.
func (t *Tools) produce(tg targets.Target, objs []Object, exports []string, out string,
	f func(row rows.Row, files []string, dir, tmp string) error) error {
	row, err := linkerRow(tg)
	if err != nil {
		return err
	}
	if err := CheckExports(exports); err != nil {
		return err
	}
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
	err = inTempDir(func(dir string) error {
		files, err := writeObjects(dir, objs)
		if err != nil {
			return err
		}
		return f(row, files, dir, tmp)
	})
	if err == nil {
		err = os.Rename(tmp, abs)
	}
	if err != nil {
		return fmt.Errorf("linking %s: %w", out, err)
	}
	return nil
}

// writeObjects stores objs in dir under names that messages of the linker can show, and returns the
// names.
func writeObjects(dir string, objs []Object) ([]string, error) {
	var files []string
	for i, o := range objs {
		file := fmt.Sprintf("%d-%s.o", i, fileName(o.Name))
		if err := o.write(filepath.Join(dir, file)); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// fileName replaces characters that are unfit for a file name.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), 100)]
}

// CheckExports fails unless there is something to export, under good names.
func CheckExports(exports []string) error {
	if len(exports) == 0 {
		return fmt.Errorf("no symbols to export: the library could not be used")
	}
	return checkSymbols(exports)
}
