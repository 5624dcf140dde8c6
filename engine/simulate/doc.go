// Package simulate runs artifacts of a foreign architecture on this machine, under qemu-user, and
// counts their instructions. Its counter serves whole systems as well (engine/bareboard). It needs
// neither a C library nor a compiler nor a Go toolchain for the target: Go lays out one image file
// (the artifact's segments, relocated for a fixed address; jobs; buffers; stacks), and a small
// static program (targets/guests/runners) maps it there, starts the threads, runs the jobs and
// ends. Results are read from the file.
//
//	m, err := simulate.Open("squeezenet.so", simulate.Options{})
//	job := simulate.Job{Inputs: inputs, First: 0, Last: m.Stages(), Threads: 1}
//	results, err := m.Run(ctx, []simulate.Job{job})
//
// A batch of jobs costs one process. qemu models instructions, not time: take counts from it, never
// durations.
//
// Artifacts of this machine can be run in the same way without qemu (Options.Direct): a crash then
// ends the process of the artifact alone, and calls can be timed (Machine.Start).
package simulate
