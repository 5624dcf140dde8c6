// Package runtime loads compiled networks and runs them. An artifact is a shared object without dependencies that
// describes itself (runtime/describe); the caller brings memory and threads, and this package is that caller for Go
// programs, without cgo:
//
//	m, err := runtime.Load("./squeezenet.so")   // checks format, architecture and CPU features before dlopen
//	s, err := m.NewSession(2)                   // memory and two threads
//	copy(s.Input(0), picture)                   // off-heap, little endian, C order
//	err = s.Run(ctx)
//	use(s.Output(0))
//	s.Close(); m.Close()
//
// Sessions need Linux and a processor that the artifact is compiled for. ReadDescription and FillRandom work everywhere,
// for artifacts of any architecture. Built with the tag ripc_static, so does a program without a dynamic linker, which has no
// sessions.
package runtime
