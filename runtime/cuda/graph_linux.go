//go:build (amd64 || arm64) && !ripc_static

package cuda

import (
	"encoding/binary"
	"errors"

	"ripc/runtime/describe"
	"ripc/runtime/device"
)

// graphAPI is the functions by which kernels are launched together, of drivers from CUDA 11.4 on.
type graphAPI struct {
	StreamBeginCapture func(stream handle, mode int32) int32 `name:"cuStreamBeginCapture_v2"`
	StreamEndCapture   func(stream handle, graph *handle) int32
	GraphInstantiate   func(exec *handle, graph handle, flags uint64) int32 `name:"cuGraphInstantiateWithFlags"`
	GraphLaunch        func(exec, stream handle) int32
}

// threadLocal is the mode of a capture that leaves other threads alone.
const threadLocal = 1

// launch is a kernel that waits for its start.
type launch struct {
	describe.Launch
	args []device.Arg
}

// key names the driver's work at a launch, with its arguments.
func key(all []launch) string {
	var b []byte
	for _, l := range all {
		b = append(append(b, l.Kernel...), 0)
		for _, a := range l.args {
			b = binary.LittleEndian.AppendUint64(b, uint64(a.Memory)+uint64(a.Offset))
		}
	}
	return string(b)
}

// start launches the kernels that wait. Several that were launched before become a graph, which
// costs one launch.
func (d *driver) start() error {
	all := d.waiting
	d.waiting = nil
	if d.graphAPI == nil || len(all) < 2 {
		return d.launchAll(all)
	}
	k := key(all)
	exec, known := d.graphs[k]
	if !known { // a sequence that runs once, as in a comparison of stages, needs no graph
		d.graphs[k] = 0
		return d.launchAll(all)
	}
	if exec == 0 {
		var err error
		if exec, err = d.capture(all); err != nil {
			return err
		}
		d.graphs[k] = exec
	}
	return d.call("cuGraphLaunch", func() int32 { return d.GraphLaunch(exec, d.stream) })
}

// capture makes a graph of kernels.
func (d *driver) capture(all []launch) (exec handle, err error) {
	var graph handle
	var launched error
	err = d.call("cuStreamBeginCapture", func() int32 { // on one OS thread until the end
		if code := d.StreamBeginCapture(d.stream, threadLocal); code != 0 {
			return code
		}
		launched = d.launchAll(all)
		return d.StreamEndCapture(d.stream, &graph)
	})
	if err = errors.Join(launched, err); err != nil {
		return 0, err
	}
	err = d.call("cuGraphInstantiate", func() int32 { return d.GraphInstantiate(&exec, graph, 0) })
	return exec, err
}
