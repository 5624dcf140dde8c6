//go:build (amd64 || arm64 || arm) && !ripc_static

package runtime

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"

	"ripc/runtime/describe"
)

// Module is a loaded artifact. Its methods may be called from any goroutine.
type Module struct {
	path   string
	desc   *describe.Artifact
	handle uintptr
	run    uintptr  // int NAME_run(in, out, workspace, tid, nthreads, sync)
	stages uintptr  // int NAME_run_stages(..., first, last)
	wsSize uintptr  // size_t NAME_workspace_size(nthreads)
	memory *os.File // what LoadBytes loaded; nil for Load

	mu       sync.Mutex
	sessions int
	closed   bool
}

// Load opens the artifact at path. Before any of its code is mapped, its format, architecture and CPU features are
// checked against this machine; after that, that code and description belong together. Errors are *FileError,
// *FormatError, *ArchError or *FeatureError.
//
// The file must not be overwritten in place while it is loaded; replace it by renaming a new one over it.
func Load(path string) (*Module, error) {
	desc, text, err := readDescription(path)
	if err != nil {
		return nil, err
	}
	// The dynamic linker searches its own folders for names without a slash.
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, &FileError{Path: path, Msg: "cannot resolve the path", Err: err}
	}
	return (&Module{path: path, desc: desc}).load(abs, text)
}

// LoadBytes is Load for an artifact in memory, such as one that go:embed put into the program; name stands for it in messages
// and is what Path returns. It fails as Load does. The dynamic linker wants files, so the bytes are copied to one that has no
// place on disk (memfd_create), which is opened as /proc/self/fd/N: without /proc, write the bytes to a file, and use Load.
func LoadBytes(name string, artifact []byte) (*Module, error) {
	desc, text, err := descriptionOf(name, bytes.NewReader(artifact))
	if err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("ripc", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, &FileError{Path: name, Msg: "no file in memory (memfd_create)", Err: err}
	}
	// The file stays open as long as the code is loaded: the dynamic linker takes two files of one name for the same.
	m := &Module{path: name, desc: desc, memory: os.NewFile(uintptr(fd), name)}
	if _, err := m.memory.Write(artifact); err != nil {
		m.memory.Close()
		return nil, &FileError{Path: name, Msg: "cannot copy it to a file in memory", Err: err}
	}
	return m.load(fmt.Sprintf("/proc/self/fd/%d", fd), text)
}

// load maps file, the code of m, unless this machine cannot run it, and checks that text is its description. If it fails,
// nothing stays open.
func (m *Module) load(file string, text []byte) (*Module, error) {
	err := m.fits()
	if err == nil {
		err = m.open(file)
	}
	if err != nil {
		m.memory.Close() // of nil: nothing
		return nil, err
	}
	if err := m.check(text); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// fits fails if this machine is not one that m was compiled for.
func (m *Module) fits() error {
	if host := HostArch(); m.desc.Arch != host {
		return &ArchError{Path: m.path, Got: m.desc.Arch, Host: host}
	}
	return CheckFeatures(m.path, m.desc.CPU, m.desc.Features)
}

// open maps the file and finds the entry points. dlerror's text belongs to the OS thread of the failing call.
func (m *Module) open(abs string) error {
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	handle, err := purego.Dlopen(abs, purego.RTLD_NOW|purego.RTLD_LOCAL)
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

// check compares what the code says of itself with the section: NAME_describe's text and the size of the workspace.
func (m *Module) check(text []byte) error {
	fn, err := purego.Dlsym(m.handle, m.desc.Name+"_describe")
	if err != nil {
		return &FileError{Path: m.path, Msg: "no function " + m.desc.Name + "_describe", Err: err}
	}
	p, _, _ := purego.SyscallN(fn)
	if p == 0 {
		return &FileError{Path: m.path, Msg: m.desc.Name + "_describe returns null"}
	}
	for i, c := range append(bytes.Clone(text), 0) {
		// Byte by byte, so that a shorter text is not read beyond its NUL.
		if *(*byte)(foreign(p + uintptr(i))) != c {
			return &FileError{Path: m.path, Msg: fmt.Sprintf("%s_describe differs from section %s at byte %d", m.desc.Name, describe.Section, i)}
		}
	}
	for _, n := range []int64{3, 1} { // two points of a line
		if got, want := m.workspaceSize(int(n)), m.desc.ArenaBytes+n*m.desc.ScratchBytes; got != want {
			return &FileError{Path: m.path, Msg: fmt.Sprintf("%s_workspace_size(%d) returns %d, the description gives %d", m.desc.Name, n, got, want)}
		}
	}
	return nil
}

// foreign makes a pointer of an address outside Go's heap, which the collector neither moves nor frees.
func foreign(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// workspaceSize asks the artifact for the bytes of the workspace of n threads.
func (m *Module) workspaceSize(n int) int64 {
	r, _, _ := purego.SyscallN(m.wsSize, uintptr(n))
	return int64(r)
}

// Description returns what the artifact says of itself. The caller must not change it.
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
	m.memory.Close() // of nil: nothing
	return nil
}
