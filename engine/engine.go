// Package engine is one interface to whatever can run a network.
//
//	interpreted  the Program itself, in package interp: the definition (Interpret);
//	native       an artifact, in this process (Open);
//	simulated    an artifact for another machine, under qemu (Open);
//	remote       an artifact, on another machine (Open with Options.Elsewhere);
//	sandboxed    a module of WebAssembly, in this process or in Node (Open);
//	device       kernels, on a GPU or another device of OpenCL (Open).
//
// Code that runs, compares or measures networks knows nothing but Engine. A device, a board or
// another simulator is one more implementation.
package engine

import (
	"context"
	"fmt"
	"time"

	"ripc/ir"
	"ripc/runtime"
	"ripc/runtime/describe"
)

// Kind is the way in which an Engine runs a network.
type Kind int

// The kinds.
const (
	Native      Kind = iota // compiled code, in this process, which it may take along
	Simulated               // compiled code, in a simulator: its times mean nothing
	Interpreted             // the definition
	Remote                  // compiled code, on another machine
	Sandboxed               // compiled code, in a virtual machine
	Device                  // kernels, on a device of this machine
)

func (k Kind) String() string {
	return [...]string{"native", "simulated", "interpreted", "remote", "sandboxed", "device"}[k]
}

// Engine can run one network. It is not for several goroutines at once.
type Engine interface {
	// Describe returns the network's description. The caller must not change it.
	Describe() *describe.Artifact
	// Kind returns the engine's kind.
	Kind() Kind
	// Run runs the jobs one after the other and returns a Result for each. A batch may be much
	// cheaper than its jobs one by one. It fails with *FaultError if compiled code did not end
	// properly, and with ctx's error if that ends first. Code in this process is not interrupted.
	Run(ctx context.Context, jobs []Job) ([]Result, error)
	// Close releases the engine's resources.
	Close() error
}

// Job runs stages First..Last-1; all of them at once by the entry point for whole inferences, where
// there is one.
type Job struct {
	First, Last int
	// Inputs are the contents of the network's inputs, in order, and From is all of memory, as an
	// engine for the same network has kept it. A job without either goes on where the one before
	// ended, in this call or in the last one.
	Inputs [][]byte
	From   *Memory
	// Fill, with Inputs, chooses a pattern that outputs and workspace hold at the start, so that
	// code that counts on zeros there is found out. With 0 they hold anything. The interpreter has
	// poison of its own.
	Fill byte
	// Outputs and Keep ask for those fields of Result.
	Outputs, Keep bool
}

// Result is the result of a job. The slices are the caller's.
type Result struct {
	Outputs  [][]byte // contents of the network's outputs, in order; if asked for
	Memory   *Memory  // everything; if asked for
	Counters Counters
}

// Counters are the measurements of a job. Unknown ones are 0.
type Counters struct {
	Took         time.Duration // of the job alone; of a simulated one, a share of its batch
	GHz          float64       // clock of the core directly behind the job; with Options.Count, or Remote
	Instructions uint64        // that the network executed; with Options.Count
	Estimate     Estimate      // of simulated code; with Options.Count
}

// Estimate is the number of cycles of simulated code on the core that it is for, as package
// estimate has it.
type Estimate struct {
	Cycles  float64 // 0 if there is no estimate
	Model   string  // LLVM's name of the modelled core: the target's, or a similar one
	Manual  string  // with the table of timings that was taken instead; "" where it is LLVM's model
	Unknown uint64  // executed instructions that the model lacks, which count a cycle each
	Why     error   // there is none
}

// Memory is the contents of all buffers but constants. It must not be changed.
type Memory struct {
	Inputs, Outputs [][]byte
	// Work is the workspace, the arena first; nil where each activation has memory of its own.
	Work    []byte
	buffers map[string][]byte // then, by name
}

// At returns the contents of a stage's operand, as the network's description lists it; nil if it is
// a constant.
func (m *Memory) At(t describe.Tensor) []byte {
	switch {
	case m.buffers != nil && t.Where == ir.ArenaBuf.String():
		return m.buffers[t.Name]
	case t.Where == ir.InputBuf.String():
		return m.Inputs[t.Offset]
	case t.Where == ir.OutputBuf.String():
		return m.Outputs[t.Offset]
	case t.Where == ir.ArenaBuf.String():
		n, err := runtime.OperandBytes(t)
		if err != nil || t.Offset < 0 || t.Offset > int64(len(m.Work)) || int64(n) > int64(len(m.Work))-t.Offset {
			return nil
		}
		return m.Work[t.Offset : t.Offset+int64(n)]
	}
	return nil
}

// Options say how to run artifacts. The zero value is fine.
type Options struct {
	Threads int // 0 means 1
	// Simulate makes Open simulate although this machine could run the artifact.
	Simulate bool
	// Count asks for counters: the clock of native code, the instructions and estimated cycles of
	// simulated code.
	Count bool
	// Cycles, with Count, asks for the estimated cycles of boards without an operating system, too.
	// Tuners go by their instructions.
	Cycles bool
	// Limit bounds the time of a stage of code that does not run in this process; 0 is no limit.
	Limit time.Duration
	// Elsewhere, if not nil, reaches another machine, on which Open then runs the artifact at path.
	Elsewhere func(path string) (Far, error)
}

// ThreadsError says that an engine cannot run the requested number of threads.
type ThreadsError struct {
	Threads, Most int
	Why           string
}

func (e *ThreadsError) Error() string {
	return fmt.Sprintf("%d threads: %s", e.Threads, e.Why)
}

// BadInput reports that the input is at fault.
func (*ThreadsError) BadInput() bool { return true }

// Fault is how compiled code ended otherwise than it should.
type Fault int

// The faults.
const (
	Failed   Fault = iota // its entry point returned a status that is not 0
	Crashed               // a signal ended it
	Overran               // it wrote beyond the end of a buffer
	TimedOut              // it did not return in time
)

// FaultError says that compiled code did not come to its end as it should.
type FaultError struct {
	Fault Fault
	Limit time.Duration // of TimedOut
	Cause string        // of Crashed: the signal, and its meaning
	Err   error         // of the loader or the simulator
}

// Error returns the message of the loader or the simulator.
func (e *FaultError) Error() string {
	if e.Err != nil && e.Fault != TimedOut {
		return e.Err.Error()
	}
	return "the compiled code " + e.How()
}

// Unwrap returns the loader's or the simulator's error.
func (e *FaultError) Unwrap() error { return e.Err }

// How is, for example, "did not return within 1m0s": a predicate of the code.
func (e *FaultError) How() string {
	switch e.Fault {
	case Crashed:
		return "crashed (" + e.Cause + ")"
	case Overran:
		return "wrote beyond the end of a buffer"
	case TimedOut:
		return fmt.Sprintf("did not return within %v", e.Limit)
	}
	return "failed: " + e.Err.Error()
}
