//go:build !linux || !(amd64 || arm64 || arm || riscv64)

package costmodel

import "errors"

// Library is XGBoost's shared library; there is none on this platform.
type Library struct{}

// Open fails with *MissingError.
func Open(string) (*Library, error) {
	return nil, &MissingError{Err: errors.New("it is loaded on Linux only")}
}

type session struct{ err error }

func (*Library) session() *session                 { return &session{err: errors.ErrUnsupported} }
func (*session) close()                            {}
func (*session) matrix([]float32, int) uintptr     { return 0 }
func (*session) floats(uintptr, string, []float32) {}
func (*session) boost([][2]string)                 {}
func (*session) round(int, uintptr)                {}
func (*session) json() []byte                      { return nil }
