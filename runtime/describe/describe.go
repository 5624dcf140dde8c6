// Package describe is the self-description of a compiled artifact: the JSON that NAME_describe()
// returns and that lies, byte for byte, in the ELF section Section. The compiler writes it
// (codegen), the loader reads it (runtime, simulate). It has no dependencies, so that a deployed
// program stays small.
package describe

import "slices"

// Format names the version of the layout below; a loader refuses any other.
const Format = "ripc.artifact/1"

// Section is the ELF section that holds the JSON.
const Section = ".ripc.describe"

// Artifact describes one compiled network.
type Artifact struct {
	Format   string   `json:"format"`
	Compiler string   `json:"compiler"` // ripc's version
	Name     string   `json:"name"`     // C identifier; prefix of every exported symbol
	Target   string   `json:"target"`   // ripc's name of the board, e.g. "rpi3"
	Arch     string   `json:"arch"`     // as package targets names it
	CPU      string   `json:"cpu"`      // LLVM's name of the CPU
	Features []string `json:"features"` // required CPU features in ripc's names (LLVM's, without "+")
	QemuCPU  string   `json:"qemu_cpu,omitempty"`
	Inputs   []Tensor `json:"inputs"`
	Outputs  []Tensor `json:"outputs"`
	// ArenaBytes is the part of the workspace that the threads share (at offset 0); behind it lie
	// nthreads blocks of ScratchBytes. Both are multiples of 64. See WorkspaceBytes.
	ArenaBytes   int64   `json:"arena_bytes"`
	ScratchBytes int64   `json:"scratch_bytes"`
	WeightBytes  int64   `json:"weight_bytes"`
	Stages       []Stage `json:"stages"`
}

// Tensor is an input, an output, or a stage's operand. Layout of bit tensors: planes outermost,
// channels packed least significant bit first into little-endian words.
type Tensor struct {
	Name   string `json:"name"`
	Label  string `json:"label,omitempty"` // the model's name, where Name is a changed one
	DType  string `json:"dtype"`           // "f32", "i32", "u32", "u8", "i8"; of kernels alone "i16" as well
	Shape  []int  `json:"shape"`
	Layout string `json:"layout,omitempty"` // "NHWC", "NC", ...
	// Encoding and Bits belong to tensors of levels: one a byte (u8), or Packed, a bit plane for
	// each of the Bits; i32 words have 1 bit and no axis of planes.
	Encoding string  `json:"encoding,omitempty"` // "unipolar", "bipolar", ...
	Bits     int     `json:"bits,omitempty"`
	Scale    float64 `json:"scale,omitempty"` // inputs and outputs: real value of one integer step
	// ZeroPoint is the level (u8) or value (i8) of 0.0: the real value is Scale * (value -
	// ZeroPoint) + RealOffset.
	ZeroPoint  int     `json:"zero_point,omitempty"`
	RealOffset float64 `json:"real_offset,omitempty"`
	Channels   int     `json:"channels,omitempty"` // true channel count
	Packed     bool    `json:"packed,omitempty"`
	// Its memory: "input", "output", "arena" or "const", with the index or the byte offset there.
	Where  string `json:"where,omitempty"`
	Offset int64  `json:"offset"`
}

// Planes reports whether t is packed with an axis of bit planes in front.
func (t Tensor) Planes() bool { return t.Packed && t.DType != "i32" }

// Logical is the shape that the model has, batch, true channels and all, where t is packed.
func (t Tensor) Logical() []int {
	shape := slices.Clone(t.Shape)
	if t.Planes() && len(shape) > 1 {
		shape = shape[1:]
	}
	if t.Packed && len(shape) > 0 {
		shape[len(shape)-1] = t.Channels
	}
	return shape
}

// WorkspaceBytes is the memory that a caller gives for n threads, beside inputs and outputs:
// NAME_workspace_size(n).
func (a *Artifact) WorkspaceBytes(n int) int64 { return a.ArenaBytes + int64(n)*a.ScratchBytes }

// MACs counts the multiply-accumulates of all stages.
func (a *Artifact) MACs() int64 {
	var n int64
	for _, s := range a.Stages {
		n += s.MACs
	}
	return n
}

// Stage is one step of a run. It begins when all units of the stage before it are done.
type Stage struct {
	Name   string   `json:"name"`
	Op     string   `json:"op"`
	Kernel string   `json:"kernel"` // symbol of the kernel; equal kernels share one
	Trace  []string `json:"trace,omitempty"`
	MACs   int64    `json:"macs"`
	Reads  []Tensor `json:"reads"`
	Writes []Tensor `json:"writes"`
	// Layer is the stage's layer; zero if that is unknown.
	Layer Layer  `json:"layer,omitzero"`
	Note  string `json:"note,omitempty"` // the model's own remark on the layer
	// ByLane names the kernel's vectorize loops that run lane by lane in part: for an if with
	// diverging lanes.
	ByLane []string `json:"by_lane,omitempty"`
	// Launches are the kernels of a device's stage. Their arguments are Reads, Writes and the
	// scratch memory, an address and an offset each.
	Launches []Launch `json:"launches,omitempty"`
}

// Title is the user's name of the tensor.
func (t Tensor) Title() string {
	if t.Label != "" {
		return t.Label
	}
	return t.Name
}

// Launch is a kernel of a device's stage. It begins when the launch before it is done.
type Launch struct {
	Kernel  string `json:"kernel"`
	Blocks  int    `json:"blocks"`
	Threads int    `json:"threads"`          // of a block
	Shared  int    `json:"shared,omitempty"` // bytes of a block's shared memory
}
