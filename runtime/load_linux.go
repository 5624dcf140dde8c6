//go:build (amd64 || arm64 || arm || riscv64) && !ripc_static

package runtime

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"ripc/internal/files"
	"ripc/runtime/describe"
)

// Module is a loaded artifact. Its methods may be called from any goroutine.
type Module struct {
	path   string
	desc   *describe.Artifact
	handle uintptr
	run    uintptr // int NAME_run(in, out, workspace, tid, nthreads, sync)
	stages uintptr // int NAME_run_stages(..., first, last)
	wsSize uintptr // size_t NAME_workspace_size(nthreads)

	mu       sync.Mutex
	sessions int
	closed   bool
}

// Load opens the artifact at path. Before any of its code is mapped, its format, architecture and
// CPU features are checked against this machine. The file is opened once: the very file that was
// checked is mapped, whatever path names meanwhile. Errors are *FileError, *FormatError, *ArchError
// or *FeatureError.
//
// The file must not be overwritten in place while it is loaded. Replace it by renaming a new one
// over it: the next Load gets the new one, and modules of the old one go on side by side with it.
func Load(path string) (*Module, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, &FileError{Path: path, Msg: "cannot open it", Err: files.Cause(err)}
	}
	defer file.Close()
	return load(path, file)
}

// LoadBytes is Load for an artifact in memory, such as one that go:embed put into the program. name
// stands for it in messages and is the result of Path. It fails as Load does. The dynamic linker
// needs a file, so the bytes are copied to one in memory (memfd_create), which is opened as
// /proc/self/fd/N. Without /proc, write the bytes to a file, and use Load.
func LoadBytes(name string, artifact []byte) (*Module, error) {
	fd, err := unix.MemfdCreate("ripc", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, &FileError{Path: name, Msg: "no file in memory (memfd_create)", Err: err}
	}
	memory := os.NewFile(uintptr(fd), name)
	defer memory.Close()
	if _, err := memory.Write(artifact); err != nil {
		return nil, &FileError{Path: name, Msg: "cannot copy it to a file in memory", Err: err}
	}
	return load(name, memory)
}

// load maps file, which messages call path, after checking it. If it fails, nothing stays open. The
// mapping holds the file; the descriptor is the caller's.
func load(path string, file *os.File) (*Module, error) {
	desc, sealed, err := descriptionOf(path, file)
	if err != nil {
		return nil, err
	}
	m := &Module{path: path, desc: desc}
	if err := m.checkMachine(); err != nil {
		return nil, err
	}
	if err := m.open(linkName(path, file)); err != nil {
		return nil, err
	}
	if err := m.check(sealed); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// linkName returns a name of file for the dynamic linker. The linker keeps the names of mapped
// files, and takes a known name for the same file, even if it names another one by now. So every
// call spells the name in a way of its own: 64 random bits are written as "./" or ".//" before the
// last element. The descriptor's name is the very file; without /proc it is path, and Module.check
// finds a file that was put there meanwhile.
func linkName(path string, file *os.File) string {
	dir, base := "/proc/self/fd", strconv.Itoa(int(file.Fd()))
	here, err := file.Stat()
	there, e := os.Stat(dir + "/" + base)
	if err != nil || e != nil || !os.SameFile(here, there) {
		dir, base = filepath.Split(path)
		if dir == "" { // the linker searches its own folders for names without a slash
			dir = "."
		}
	}
	var name strings.Builder
	name.WriteString(dir + "/")
	for bits, n := rand.Uint64(), 0; n < 64; bits, n = bits>>1, n+1 {
		name.WriteString("./")
		if bits&1 != 0 {
			name.WriteByte('/')
		}
	}
	return name.String() + base
}

// checkMachine fails if this machine is not one that m was compiled for.
func (m *Module) checkMachine() error {
	if err := CheckArch(m.path, m.desc.Arch); err != nil {
		return err
	}
	return CheckFeatures(m.path, m.desc.CPU, m.desc.Features)
}

// open maps the file and finds the entry points. dlerror's text belongs to the OS thread of the
// failing call.
func (m *Module) open(name string) error {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return &FileError{Path: m.path, Msg: "the dynamic linker refuses it", Err: err}
	}
	m.handle = handle
	for _, s := range []struct {
		suffix string
		to     *uintptr
	}{{"_run", &m.run}, {"_run_stages", &m.stages}, {"_workspace_size", &m.wsSize}} {
		if *s.to, err = purego.Dlsym(handle, m.desc.Name+s.suffix); err != nil {
			_ = purego.Dlclose(handle)
			return &FileError{Path: m.path, Msg: "no function " + m.desc.Name + s.suffix, Err: err}
		}
	}
	return nil
}

// check compares the mapping with the file: the text that NAME_describe returns, the seal behind
// it, which stands for code and weights, and the size of the workspace.
func (m *Module) check(sealed section) error {
	fn, err := purego.Dlsym(m.handle, m.desc.Name+"_describe")
	if err != nil {
		return &FileError{Path: m.path, Msg: "no function " + m.desc.Name + "_describe", Err: err}
	}
	p, _, _ := purego.SyscallN(fn)
	if p == 0 {
		return &FileError{Path: m.path, Msg: m.desc.Name + "_describe returns null"}
	}
	for i, c := range slices.Concat(sealed.text, []byte{0}, sealed.sum) {
		// Byte by byte, so that a shorter text is not read beyond its NUL.
		if *(*byte)(pointerTo(p + uintptr(i))) != c {
			return &FileError{Path: m.path,
				Msg: fmt.Sprintf("%s_describe differs from section %s at byte %d", m.desc.Name, describe.Section, i)}
		}
	}
	for _, n := range []int{3, 1} { // two points of a line
		if got, want := m.workspaceSize(n), m.desc.WorkspaceBytes(n); got != want {
			return &FileError{Path: m.path,
				Msg: fmt.Sprintf("%s_workspace_size(%d) returns %d, the description gives %d", m.desc.Name, n, got,
					want)}
		}
	}
	return nil
}

// pointerTo makes a pointer of an address outside Go's heap, which the collector neither moves nor
// frees.
func pointerTo(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// workspaceSize asks the artifact for the bytes of the workspace of n threads.
func (m *Module) workspaceSize(n int) int64 {
	r, _, _ := purego.SyscallN(m.wsSize, uintptr(n))
	return int64(r)
}

// Description returns the artifact's description. The caller must not change it.
func (m *Module) Description() *describe.Artifact { return m.desc }

// Path returns the path given to Load, or the name given to LoadBytes.
func (m *Module) Path() string { return m.path }

// Close unloads the code. It fails, and unloads nothing, while sessions are open.
func (m *Module) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	if m.sessions > 0 {
		return fmt.Errorf("%s: %d sessions are open; close them before the module", m.path, m.sessions)
	}
	m.closed = true
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	if err := purego.Dlclose(m.handle); err != nil {
		return &FileError{Path: m.path, Msg: "cannot unload", Err: err}
	}
	return nil
}
