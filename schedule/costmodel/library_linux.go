//go:build amd64 || arm64 || arm || riscv64

package costmodel

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is XGBoost's shared library. It may be used from several goroutines. It stays mapped
// until the process ends, since its OpenMP threads never leave it.
type Library struct {
	lastError     func() string
	createMatrix  func(data *float32, rows, cols uint64, missing float32, out *uintptr, threads int32) int32
	setFloats     func(m uintptr, field string, v *float32, n uint64) int32
	freeMatrix    func(m uintptr) int32
	createBooster func(matrices *uintptr, n uint64, out *uintptr) int32
	freeBooster   func(b uintptr) int32
	setParam      func(b uintptr, name, value string) int32
	update        func(b uintptr, round int32, m uintptr) int32
	predict       func(b, m uintptr, mask int32, trees uint32, training int32, n *uint64, out *unsafe.Pointer) int32
	save          func(b uintptr, config string, n *uint64, out *unsafe.Pointer) int32
}

// Open loads the library by its path, or by a name that the dynamic linker finds. "" stands for the
// names that distributions give it. Open fails with *MissingError.
func Open(name string) (*Library, error) {
	// The linker keeps its last error for each thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	names := []string{name}
	if name == "" {
		names = []string{"libxgboost.so.0", "libxgboost.so"} // Debian's name, and that of XGBoost's own build
	}
	var all []error
	for _, n := range names {
		l, err := open(n)
		if err == nil {
			return l, nil
		}
		all = append(all, err)
	}
	return nil, &MissingError{Err: errors.Join(all...)}
}

func open(name string) (*Library, error) {
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, err
	}
	l := &Library{}
	for _, f := range []struct {
		name string
		to   any
	}{
		{"XGBGetLastError", &l.lastError},
		{"XGDMatrixCreateFromMat_omp", &l.createMatrix},
		{"XGDMatrixSetFloatInfo", &l.setFloats},
		{"XGDMatrixFree", &l.freeMatrix},
		{"XGBoosterCreate", &l.createBooster},
		{"XGBoosterFree", &l.freeBooster},
		{"XGBoosterSetParam", &l.setParam},
		{"XGBoosterUpdateOneIter", &l.update},
		{"XGBoosterPredict", &l.predict},
		{"XGBoosterSaveModelToBuffer", &l.save},
	} {
		sym, err := purego.Dlsym(handle, f.name)
		if err != nil { // RegisterLibFunc would panic
			_ = purego.Dlclose(handle) // nothing of it has run
			return nil, err
		}
		purego.RegisterFunc(f.to, sym)
	}
	return l, nil
}

// session is one training: its objects in C memory, and its first error. It stays on one thread:
// the library keeps the text of its last error, and OpenMP its threads, for each thread.
type session struct {
	*Library
	matrices []uintptr
	booster  uintptr
	err      error
}

// session begins a training. The caller ends it with close.
func (l *Library) session() *session {
	runtime.LockOSThread()
	return &session{Library: l}
}

func (s *session) close() {
	if s.booster != 0 {
		s.freeBooster(s.booster)
	}
	for _, m := range s.matrices {
		s.freeMatrix(m)
	}
	runtime.UnlockOSThread()
}

// check records the status of a call, where 0 is success, and reports whether no call has failed
// yet.
func (s *session) check(what string, status int32) bool {
	if status != 0 && s.err == nil {
		s.err = &TrainError{What: what, Text: s.lastError()}
	}
	return s.err == nil
}

// matrix copies rows of equal length.
func (s *session) matrix(x []float32, rows int) uintptr {
	var m uintptr
	if s.err == nil && s.check("the matrix of "+
		"features", s.createMatrix(&x[0], uint64(rows), uint64(len(x)/rows), missing(), &m, threads)) {
		s.matrices = append(s.matrices, m)
	}
	return m
}

func (s *session) floats(m uintptr, field string, v []float32) {
	if s.err == nil {
		s.check(field, s.setFloats(m, field, &v[0], uint64(len(v))))
	}
}

// boost makes the booster for the matrices of the session.
func (s *session) boost(params [][2]string) {
	if s.err != nil || !s.check("the booster", s.createBooster(&s.matrices[0], uint64(len(s.matrices)), &s.booster)) {
		return
	}
	for _, p := range params {
		if !s.check(p[0], s.setParam(s.booster, p[0], p[1])) {
			return
		}
	}
}

func (s *session) round(i int, m uintptr) {
	if s.err == nil {
		s.check("training", s.update(s.booster, int32(i), m))
	}
}

// json returns the booster in XGBoost's own format.
func (s *session) json() []byte {
	var n uint64
	var p unsafe.Pointer
	if s.err != nil || !s.check("saving", s.save(s.booster, `{"format":"json"}`, &n, &p)) {
		return nil
	}
	return append([]byte(nil), unsafe.Slice((*byte)(p), n)...)
}
