//go:build (amd64 || arm64) && !ripc_static

package library

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// loadable says that LLVM's library can be loaded on this platform.
const loadable = true

// init makes a child of a program that was started as one, before its main function, so that any
// program with this package can start itself: ripc, programs that use it, and their tests. Their
// packages that are initialized before this one are so in each child; those that use it, main among
// them, never are.
func init() {
	if !isChild() {
		return
	}
	serve(os.Stdin, os.NewFile(3, "answers"), func(o order) (compiler, error) { return load(o) })
	os.Exit(0)
}

// api are the functions of LLVM's library that opt and llc use: those of its C interface, and four
// C++ functions behind the tools' flags, which the C interface lacks. The mangled names give the
// parameters.
type api struct {
	version func(major, minor, patch *uint32)
	// parseOptions ends the process where something is wrong. LLVMParseCommandLineOptions ignores
	// it.
	parseOptions func(n int32, args *unsafe.Pointer, overview *byte, nOverview uintptr,
		errors, files, variable uintptr, long bool)
	registerOpts func(this *uint64)
	// createMachine returns an Expected<std::unique_ptr<TargetMachine>>, which the caller has room
	// for.
	createMachine func(triple *byte, n uintptr, level int32) expected
	setAttributes func(cpu *byte, nCPU uintptr, attrs *byte, nAttrs uintptr, module uintptr)
	dataLayout    func(machine uintptr) uintptr
	layoutText    func(layout uintptr) string

	createContext  func() uintptr
	disposeContext func(context uintptr)
	copyToBuffer   func(data *byte, n uintptr, name string) uintptr
	parse          func(context, buffer uintptr, module, message *uintptr) int32
	verify         func(module uintptr, action int32, message *uintptr) int32
	setTriple      func(module uintptr, triple string)
	createOptions  func() uintptr
	run            func(module uintptr, passes string, machine, options uintptr) uintptr
	emit           func(machine, module uintptr, kind int32, message, buffer *uintptr) int32
	bufferStart    func(buffer uintptr) unsafe.Pointer
	bufferSize     func(buffer uintptr) uintptr
	disposeBuffer  func(buffer uintptr)
}

// expected is longer than the C++ type, so that it is returned in memory. The C++ type is too,
// since it has a destructor.
type expected struct{ value, failed, _ uintptr }

// open loads the library and finds its functions.
func open(file string) (uintptr, *api, error) {
	handle, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, nil, err
	}
	l := &api{}
	for _, f := range []struct {
		name string
		to   any
	}{
		{"LLVMGetVersion", &l.version},
		{"_ZN4llvm2cl23ParseCommandLineOptionsEiPKPKcNS_9StringRefEPNS_11raw_ostreamEPNS_3vfs10FileSystemES2_b",
			&l.parseOptions},
		{"_ZN4llvm7codegen20RegisterCodeGenFlagsC1Ev", &l.registerOpts},
		{"_ZN4llvm7codegen28createTargetMachineForTripleENS_9StringRefENS_15CodeGenOptLevelE", &l.createMachine},
		{"_ZN4llvm7codegen21setFunctionAttributesENS_9StringRefES1_RNS_6ModuleE", &l.setAttributes},
		{"LLVMCreateTargetDataLayout", &l.dataLayout},
		{"LLVMCopyStringRepOfTargetData", &l.layoutText},
		{"LLVMContextCreate", &l.createContext},
		{"LLVMContextDispose", &l.disposeContext},
		{"LLVMCreateMemoryBufferWithMemoryRangeCopy", &l.copyToBuffer},
		{"LLVMParseIRInContext", &l.parse},
		{"LLVMVerifyModule", &l.verify},
		{"LLVMSetTarget", &l.setTriple},
		{"LLVMCreatePassBuilderOptions", &l.createOptions},
		{"LLVMRunPasses", &l.run},
		{"LLVMTargetMachineEmitToMemoryBuffer", &l.emit},
		{"LLVMGetBufferStart", &l.bufferStart},
		{"LLVMGetBufferSize", &l.bufferSize},
		{"LLVMDisposeMemoryBuffer", &l.disposeBuffer},
	} {
		symbol, err := purego.Dlsym(handle, f.name)
		if err != nil { // RegisterFunc would panic
			return 0, nil, err
		}
		purego.RegisterFunc(f.to, symbol)
	}
	return handle, l, nil
}

// machine is the library with the flags of an order.
type machine struct {
	*api
	Settings
	head               []byte // of each text: the data layout
	optimizer, backend uintptr
	options            uintptr
}

// load makes the machine of an order, and does the work that opt and llc do before they read their
// input. Each tool's flags are set at the point where that tool would set them: its machine keeps
// them. The remaining flags affect only one of the two.
func load(o order) (*machine, error) {
	runtime.LockOSThread() // dlerror and LLVM have thread-local state
	handle, l, err := open(o.File)
	if err != nil {
		return nil, err
	}
	var v [3]uint32
	l.version(&v[0], &v[1], &v[2])
	if version := fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]); version != o.Version {
		return nil, fmt.Errorf("the library is of LLVM %s, the tools are of %s", version, o.Version)
	}
	for _, part := range []string{"TargetInfo", "Target", "TargetMC", "AsmParser", "AsmPrinter"} {
		symbol, err := purego.Dlsym(handle, "LLVMInitialize"+o.Backend+part)
		if err != nil {
			return nil, err
		}
		purego.SyscallN(symbol)
	}
	l.registerOpts(new(uint64))
	m := &machine{api: l, Settings: o.Settings, options: l.createOptions()}
	l.flags(append([]string{"-mcpu=" + o.CPU, "-mattr=" + o.Attrs}, o.Opt...))
	if m.optimizer, err = m.target(0); err != nil { // opt's own level, which its passes do not follow
		return nil, err
	}
	l.flags(o.LLC)
	if m.backend, err = m.target(o.Level); err != nil {
		return nil, err
	}
	m.head = fmt.Appendf(nil, "target datalayout = %q\n", l.layoutText(l.dataLayout(m.optimizer)))
	return m, nil
}

// flags sets flags; it ends the process on one that LLVM does not know.
func (l *api) flags(flags []string) {
	var pins runtime.Pinner
	defer pins.Unpin()
	var args []unsafe.Pointer
	for _, f := range append([]string{"ripc"}, flags...) {
		text := append([]byte(f), 0)
		pins.Pin(&text[0])
		args = append(args, unsafe.Pointer(&text[0]))
	}
	l.parseOptions(int32(len(args)), &args[0], nil, 0, 0, 0, 0, false)
}

// target is a machine with the flags that are set, for a level of optimization.
func (m *machine) target(level int) (uintptr, error) {
	e := m.createMachine(unsafe.StringData(m.Triple), uintptr(len(m.Triple)), int32(level))
	if e.failed&1 != 0 {
		return 0, errors.New("LLVM has no such machine")
	}
	return e.value, nil
}

// attributes puts the machine into each function, where it is not yet.
func (m *machine) attributes(module uintptr) {
	m.setAttributes(unsafe.StringData(m.CPU), uintptr(len(m.CPU)), unsafe.StringData(m.Attrs), uintptr(len(m.Attrs)),
		module)
}

// object does the work of opt and then llc on their input. Everything it makes belongs to the
// context.
func (m *machine) object(ll []byte) ([]byte, error) {
	if bytes.Contains(ll, []byte("target datalayout")) {
		return nil, errors.New("a text with a layout of its own")
	}
	context := m.createContext()
	defer m.disposeContext(context)
	text := append(m.head[:len(m.head):len(m.head)], ll...)
	var module, message, buffer uintptr
	const stdin = "<stdin>" // as the tools call it: the object has the name
	if m.parse(context, m.copyToBuffer(&text[0], uintptr(len(text)), stdin), &module, &message) != 0 {
		return nil, errors.New("no LLVM IR")
	}
	m.setTriple(module, m.Triple)
	const returnStatus = 2
	if m.verify(module, returnStatus, nil) != 0 {
		return nil, errors.New("invalid LLVM IR")
	}
	m.attributes(module)
	if m.run(module, m.Passes, m.optimizer, m.options) != 0 {
		return nil, errors.New("passes failed")
	}
	m.attributes(module)
	const objectFile = 1
	if m.emit(m.backend, module, objectFile, &message, &buffer) != 0 {
		return nil, errors.New("no code")
	}
	defer m.disposeBuffer(buffer)
	return bytes.Clone(unsafe.Slice((*byte)(m.bufferStart(buffer)), m.bufferSize(buffer))), nil
}
