package ripc

import (
	"context"

	"ripc/compile"
)

// unit builds one layer of the model at path by itself, with its own constants and the schedule that it has in the network.
func unit(ctx context.Context, path, layer string, o Options, progress func(done, total int, what string)) (*compile.Unit, error) {
	if IsArtifact(path) {
		return nil, &ArtifactError{Path: path, For: ToIsolate}
	}
	o.Emit = nil
	c, err := Compile(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return c.Unit(ctx, layer, compile.KernelOptions{Backend: o.Backend, Progress: func(done, total int) {
		if progress != nil {
			progress(done, total, "compiling "+layer)
		}
	}})
}
