// Package runtime loads compiled networks and runs them. An artifact is a shared object without
// dependencies that describes itself (runtime/describe). The caller brings memory and threads, and
// this package is that caller for Go programs, without cgo.
//
//	m, err := runtime.Load("./squeezenet.so") // checks format, architecture and CPU features.
//	s, err := m.NewSession(2)                   // memory and two threads.
//	err = runtime.SetInput(s, 0, picture)       // []float32 for a tensor of type f32, in C order.
//	err = s.Run(ctx)
//	logits, err := runtime.Output[float32](s, 0)
//	use(logits)
//	s.Close(); m.Close()
//
// Input and Output return tensors as numbers, the methods of Session as bytes; none copies.
// LoadBytes loads an artifact that is part of the program (go:embed).
//
// Sessions need Linux and a processor that the artifact is compiled for. ReadDescription and
// FillRandom work everywhere, for artifacts of any architecture. Built with the tag ripc_static, so
// does a program without a dynamic linker, which has no sessions.
package runtime
