package codegen

import (
	"bytes"
	"fmt"

	"ripc/internal/abi"
	"ripc/internal/container"
	"ripc/ir"
	"ripc/ir/deps"
	"ripc/runtime/describe"
	"ripc/targets"
)

// language is that of the kernels of an architecture.
type language struct {
	kind   Kind   // of a file with kernels alone
	header string // template of the C header for programs that launch them; "" if there is none
}

// languageOf returns the language of t's kernels, the zero one for CPUs.
func languageOf(t targets.Target) language {
	return map[string]language{container.OpenCL: {CL, openclText}, container.PTX: {kind: PTX},
		container.WebGPU: {kind: WGSL}}[t.Arch]
}

// AcceptKernels fails with *TargetError, for a reason, unless t's kernels are of kind k.
func AcceptKernels(backend string, k Kind, t targets.Target, reason string) error {
	if languageOf(t).kind != k {
		return &TargetError{Backend: backend, Target: t.Name, Reason: reason}
	}
	return nil
}

// DeviceKernel is the kernel of f, which has launches, with its scratch. It fails with *ir.Error as
// CheckBlocks does.
func DeviceKernel(f *ir.Func, symbol string, t targets.Target, text []byte,
	launches []describe.Launch) (Kernel, error) {
	if err := CheckBlocks(f, t); err != nil {
		return Kernel{}, err
	}
	d, err := deps.DeviceOf(f)
	if err != nil {
		return Kernel{}, err
	}
	return Kernel{Symbol: symbol, Text: text, Launches: launches, Scratch: abi.RoundUp(d.ScratchBytes())}, nil
}

// CheckBlocks fails with *ir.Error if a block of f takes more than the device t has. The help names
// the knob.
func CheckBlocks(f *ir.Func, t targets.Target) error {
	d, err := deps.DeviceOf(f)
	if err != nil {
		return err
	}
	for _, k := range d.Kernels {
		if err := CheckBlock(f, t, k.Threads, k.Shared); err != nil {
			return err
		}
	}
	return nil
}

// CheckBlock is CheckBlocks for one block, which takes threads and bytes of shared memory.
func CheckBlock(f *ir.Func, t targets.Target, threads, shared int) error {
	for _, l := range []struct {
		used, most int
		what, help string
	}{
		{threads, t.Device.MaxThreads, "threads", "bind fewer iterations to threads (knob threads)"},
		{shared, t.Device.SharedBytes, "bytes of shared memory",
			"share smaller buffers: compute them at an inner loop (knobs tile_h and tile_w), or leave them in the " +
				"device's memory"},
	} {
		if l.used > l.most {
			return &ir.Error{Node: "@" + f.Name, Help: l.help,
				Msg: fmt.Sprintf("a block takes %d %s, and %s has %d", l.used, l.what, t.Name, l.most)}
		}
	}
	return nil
}

// DeviceFiles makes the files of kinds of a device's kernels: their text, or bundles.
func (m *Image) DeviceFiles(kinds []Kind, kernels []byte) (map[Kind][]byte, error) {
	files, text := map[Kind][]byte{}, languageOf(m.Target).kind
	for _, k := range kinds {
		if files[k] = kernels; k == text {
			continue
		}
		var err error
		if files[k], err = m.bundle(container.Kernels+string(text), kernels); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// bundle is the file of a device's kernels, with the description and the constants.
func (m *Image) bundle(name string, kernels []byte) ([]byte, error) {
	description := []byte("{}")
	if !m.NoDescribe {
		var err error
		if description, err = m.DescriptionText(); err != nil {
			return nil, err
		}
	}
	return container.NewBundle(description, container.Part{Name: name, Data: kernels},
		container.Part{Name: container.Constants, Data: bytes.Join(m.Weights, nil)})
}
