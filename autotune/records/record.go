// Package records keeps a tuner's measurements: one Record for each candidate, one JSON object a
// line, in files that several tuners may append to and that a crash cannot damage.
package records

// Format names the format of this version's lines; lines of any other are left alone, and said to
// be.
const Format = "ripc.record/1"

// Record is the result of one candidate: its computation, its schedule, and its cost.
type Record struct {
	Format    string      `json:"format"`
	Workload  Workload    `json:"workload"`
	Target    string      `json:"target"` // its name
	Candidate Candidate   `json:"candidate"`
	Result    Measurement `json:"result"`
	Machine   Machine     `json:"machine"`
	Versions  Versions    `json:"versions"`
	Origin    Origin      `json:"origin"`
}

// Workload names the computation of a Func. Two layers with the same Key are the same Func but for
// names, whatever their networks are, and a measurement of one holds for the other.
type Workload struct {
	Op    string `json:"op"`    // of the layer, such as "bitserial_conv2d"
	Shape string `json:"shape"` // for people: "28x28x128 -> 28x28x128, 3x3, 1 bit by 2"
	Key   string `json:"key"`   // hash of the definition's text without names
	MACs  int64  `json:"macs"`
}

// Candidate is one way to compute a workload. Trace alone decides the code; the rest says where in
// the space it lies.
type Candidate struct {
	Algorithm string         `json:"algorithm,omitempty"` // of lower/layout; "" for stages that have no choice
	Strategy  string         `json:"strategy"`
	Values    map[string]int `json:"values,omitempty"`
	Trace     []string       `json:"trace"` // steps, as schedule.ParseStep reads them
}

// Unit is the unit of a cost. Costs of different units are never compared.
type Unit string

// The units.
const (
	Nanoseconds Unit = "ns"     // of a run on real hardware
	Cycles      Unit = "cycles" // estimated, of simulated code (package engine/estimate)
	// Instructions are those executed on a simulated board, where nothing estimates cycles.
	Instructions Unit = "instructions"
)

// Measurement is the cost of a candidate, or why it has none.
type Measurement struct {
	// Cost is the median of the samples; 0 with a Failure. Candidates are compared by it.
	Cost    float64   `json:"cost,omitempty"`
	Unit    Unit      `json:"unit,omitempty"`
	Low     float64   `json:"low,omitempty"`     // 95-percent confidence interval of Cost
	High    float64   `json:"high,omitempty"`    //
	Samples []float64 `json:"samples,omitempty"` // in Unit; one of simulated code
	// Instructions are those executed by simulated code.
	Instructions uint64 `json:"instructions,omitempty"`
	// Cold says that the caches were emptied before each run.
	Cold    bool     `json:"cold,omitempty"`
	GHz     float64  `json:"ghz,omitempty"`     // clock of the core behind the runs
	Celsius float64  `json:"celsius,omitempty"` // of the CPU behind the runs, where the system says it
	Failure *Failure `json:"failure,omitempty"`
}

// Failure is why a candidate has no cost. Such a candidate is not tried again.
type Failure struct {
	Kind FailureKind `json:"kind"`
	Text string      `json:"text"` // for people
}

// FailureKind is the stage at which a candidate failed.
type FailureKind string

// The kinds of failures.
const (
	Unbuildable FailureKind = "build"   // a step was refused, or the tools failed
	Crashed     FailureKind = "crash"   // a signal ended it
	TimedOut    FailureKind = "timeout" //
	Wrong       FailureKind = "wrong"   // its results are not the definition's
)

// Machine is the machine that measured a candidate.
type Machine struct {
	CPU string `json:"cpu"` // as its system calls it; the core of the model, of simulated code
	// Simulated says that costs come of a model of CPU, not of CPU.
	Simulated bool `json:"simulated,omitempty"`
	// Host is the runner's name for it: "" for this machine, USER@HOST, a worker of a fleet.
	Host string `json:"host,omitempty"`
}

// Versions of the programs that built and measured the candidate.
type Versions struct {
	Ripc string `json:"ripc"`
	LLVM string `json:"llvm,omitempty"`
	C    string `json:"c,omitempty"` // the C compiler, of kernels that are built from C
}

// Add adds the version of the tools of a back end.
func (v *Versions) Add(backend, version string) {
	if backend == "llvm" {
		v.LLVM = version
	} else {
		v.C = version
	}
}

// Origin is who asked for the candidate.
type Origin struct {
	Tuner string `json:"tuner"` // "default", "xgb", "evolve", ...
	Seed  uint64 `json:"seed"`
	Trial int    `json:"trial"` // of its workload, from 0, which is the default schedule
	// Time is when it was measured, in RFC 3339; "" of simulated code: its records depend on
	// nothing but the seed.
	Time string `json:"time,omitempty"`
}
