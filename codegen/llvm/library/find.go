package library

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
)

// Of is the shared library of LLVM that all these programs load: its path, or its name where the
// dynamic linker searches for it. ok is false if they have none, as those that LLVM itself
// distributes, or are no programs of this machine but scripts, or if this package cannot load one
// here.
func Of(programs ...string) (file string, ok bool) {
	for i, p := range programs {
		f, ok := of(p)
		if !ok || i > 0 && f != file {
			return "", false
		}
		file = f
	}
	return file, file != "" && loadable
}

// of is Of a single program.
func of(program string) (file string, ok bool) {
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
