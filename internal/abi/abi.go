// Package abi defines the interface between a compiled network and its caller, for every back end
// and every caller. The header of an artifact is the same interface in C.
//
//	int NAME_run(const void *const *in, void *const *out, void *workspace,
//	             uint32_t tid, uint32_t nthreads, ripc_sync *sync)
//	int NAME_run_stages(..., uint32_t first, uint32_t last)
//	size_t NAME_workspace_size(uint32_t nthreads)
//	const char *NAME_describe(void)
//	int NAME_cpu_ok(void)
//	int NAME_run_HASH(...)
//
// NAME_run_HASH is another name of NAME_run. The header makes its callers use it, so that a program
// with the header of another build does not link.
//
// It has no dependencies, so that a deployed program stays small.
package abi

const (
	// Align is the alignment in bytes of inputs, outputs, workspace and ripc_sync, of every buffer
	// in the workspace and of every constant.
	Align = 64
	// SyncBytes is the size of ripc_sync.
	SyncBytes = Claims + claimLines*Align
	// Arrived and Passed are the offsets in ripc_sync of two 32-bit counters of a barrier, each in
	// a cache line of its own: the threads that wait at it, and the barriers that were passed.
	Arrived, Passed = 0, 64
	// Entered, Left and Units are the offsets of 32-bit counters for threads that share units of
	// work: the threads that began a run, those that ended it, and the units of a stage that are
	// not done. Stage counts the stages that were opened, and Asleep the threads that wait for it
	// in the kernel. Seats has a bit for each thread, set while the thread's call counts for the
	// run. Claims has a word for each thread, in claimLines cache lines in turn.
	Entered, Left, Units = 0, 4, 8
	Seats                = 12
	Stage, Asleep        = 64, 68
	Claims, claimLines   = 128, 16
	// MaxThreads is the number of threads with a word in Claims.
	MaxThreads = claimLines * Align / 4
)

// Results of the entry points.
const (
	OK         = 0
	BadThreads = 1 // tid >= nthreads, nthreads > MaxThreads, or no sync for several threads
	BadBuffer  = 2 // a buffer, or an array of pointers to some, is null, or a buffer is not aligned to Align
	BadStages  = 3 // first > last, or last beyond the number of stages
)

// Results of NAME_cpu_ok.
const (
	CPULacks   = 0  // the code would crash here
	CPUOK      = 1  // this CPU and its operating system can run the code
	CPUUnknown = -1 // that cannot be found out here
)

// Symbols of data inside an artifact, not visible from outside.
const (
	Weights  = "ripc_weights"       // the block of all constants
	Describe = "ripc_describe_text" // the string that NAME_describe returns
)

// Exports lists the functions of the network called name, a C identifier, that a caller finds by
// name (dlsym).
func Exports(name string) []string {
	return []string{name + "_run", name + "_run_stages", name + "_workspace_size", name + "_describe", name + "_cpu_ok"}
}

// Run is the other name of the network's run, with the hash of its build.
func Run(name, hash string) string { return name + "_run_" + hash }

// Sync is the C type of the object at which threads meet.
const Sync = "ripc_sync"

// RoundUp is the least multiple of Align that is not below n.
func RoundUp(n int64) int64 { return (n + Align - 1) / Align * Align }
