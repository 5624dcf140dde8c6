package library

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
)

// Of returns LLVM's shared library that all these programs load: its path, or its name where the
// dynamic linker searches for it. ok is false if they are statically linked, as LLVM's own releases
// are, if they are scripts, or if this package cannot load a library here.
func Of(programs ...string) (file string, ok bool) {
	for i, p := range programs {
		f, ok := libraryOf(p)
		if !ok || i > 0 && f != file {
			return "", false
		}
		file = f
	}
	return file, file != "" && loadable
}

// libraryOf is Of for a single program.
func libraryOf(program string) (file string, ok bool) {
	program, err := filepath.EvalSymlinks(program)
	if err != nil {
		return "", false
	}
	f, err := elf.Open(program)
	if err != nil {
		return "", false
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil {
		return "", false
	}
	for _, name := range needed {
		if strings.HasPrefix(name, "libLLVM") {
			return inRunPath(f, filepath.Dir(program), name), true
		}
	}
	return "", false
}

// inRunPath is the file called name in the folders that a program in dir names itself, or else just
// the name.
func inRunPath(f *elf.File, dir, name string) string {
	paths, _ := f.DynString(elf.DT_RUNPATH) // none is as good as an error: the dynamic linker has its own folders
	if len(paths) == 0 {
		paths, _ = f.DynString(elf.DT_RPATH)
	}
	for _, list := range paths {
		for _, folder := range filepath.SplitList(list) {
			file := filepath.Join(strings.NewReplacer("$ORIGIN", dir, "${ORIGIN}", dir).Replace(folder), name)
			if _, err := os.Stat(file); err == nil && filepath.IsAbs(file) {
				return file
			}
		}
	}
	return name
}
