package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ripc/codegen"
	"ripc/codegen/board"
	"ripc/codegen/c99"
	"ripc/codegen/cuda"
	"ripc/codegen/llvm"
	"ripc/codegen/opencl"
	"ripc/codegen/wgsl"
	"ripc/ir"
	"ripc/targets"
)

// backends lists all back ends. Each kind of file is made by the first that can.
func backends() []codegen.Backend {
	return []codegen.Backend{llvm.Backend{}, board.Backend{}, opencl.Backend{}, cuda.Backend{}, wgsl.Backend{},
		c99.Backend{}}
}

// runs is the back end of the files that engines load for t.
func runs(t targets.Target) codegen.Backend {
	all := backends()
	i := slices.IndexFunc(all, func(b codegen.Backend) bool { return b.Accepts(t, codegen.Runnable) == nil })
	return all[i] // opencl and c99 accept the rest
}

// Prepare is codegen.Backend.Prepare of the back end of t's runnable files. A caller that builds
// many kernels prepares it once.
func Prepare(ctx context.Context, t targets.Target) (b codegen.Backend, version string, err error) {
	return runs(t).Prepare(ctx, t)
}

// Backends lists the names that Options.Backend may be.
func Backends() []string {
	var names []string
	for _, b := range backends() {
		names = append(names, b.Name())
	}
	return names
}

// RefuseBackend is the error that a back end cannot be used for a target, for a reason. accepted
// are the back ends that can.
func RefuseBackend(backend, target, reason string, accepted []string) error {
	text := fmt.Sprintf("back end %s cannot be used for target %s: %s", backend, target, reason)
	if len(accepted) > 0 {
		text += "; accepted: " + strings.Join(accepted, ", ")
	}
	return &ir.Error{Msg: text}
}

// BackendsFor lists the back ends that make a kind of file for a target, or any if kinds are none.
// It fails with *targets.UnknownTargetError or *targets.HostError.
func BackendsFor(target string, kinds ...codegen.Kind) ([]string, error) {
	t, err := findTarget(target)
	if err != nil {
		return nil, err
	}
	return backendsFor(t, kinds), nil
}

func backendsFor(t targets.Target, kinds []codegen.Kind) []string {
	var names []string
	for _, b := range backends() {
		if refusal(b, t, kinds) == "" {
			names = append(names, b.Name())
		}
	}
	return names
}

// refusal says why b makes none of the kinds for t, "" if it makes one. No kinds stand for all.
func refusal(b codegen.Backend, t targets.Target, kinds []codegen.Kind) string {
	reason := ""
	for _, k := range b.Kinds() {
		if len(kinds) > 0 && !slices.Contains(kinds, k) {
			continue
		}
		err := b.Accepts(t, k)
		if err == nil {
			return ""
		}
		if refused := (*codegen.TargetError)(nil); reason == "" && errors.As(err, &refused) {
			reason = refused.Reason
		}
	}
	switch {
	case reason != "":
		return reason
	case slices.Equal(b.Kinds(), []codegen.Kind{codegen.Runnable}):
		return "it makes programs that run, verify, eval and bench start, and no files"
	}
	var made, wanted []string
	for _, k := range codegen.Kinds() {
		if slices.Contains(b.Kinds(), k) && b.Accepts(t, k) == nil {
			made = append(made, string(k))
		}
	}
	for _, k := range kinds {
		if k != codegen.Runnable {
			wanted = append(wanted, string(k))
		}
	}
	text := "it makes " + strings.Join(made, ", ")
	if len(wanted) > 0 {
		text += ", not " + strings.Join(wanted, " or ")
	}
	return text
}

// checkBackend fails with *ir.Error unless the back end called name
// makes each of kinds for t, or any kind if they are none. The name "" is any back end.
func checkBackend(name string, t targets.Target, kinds []codegen.Kind) error {
	use, err := selectBackends(name)
	if err != nil || name == "" {
		return err
	}
	// Build makes these
	made := slices.DeleteFunc(slices.Clone(kinds), func(k codegen.Kind) bool {
		return k.OfAll()
	})
	reason := refusal(use[0], t, nil)
	for _, k := range made {
		reason = cmp.Or(reason, refusal(use[0], t, []codegen.Kind{k}))
	}
	if reason == "" {
		return nil
	}
	accepted := backendsFor(t, nil)
	for _, k := range made {
		able := backendsFor(t, []codegen.Kind{k})
		accepted = slices.DeleteFunc(accepted, func(name string) bool { return !slices.Contains(able, name) })
	}
	return RefuseBackend(name, t.Name, reason, accepted)
}

// selectBackends gives the back ends that may build: the one called name, or all.
func selectBackends(name string) ([]codegen.Backend, error) {
	if name == "" {
		return backends(), nil
	}
	for _, b := range backends() {
		if b.Name() == name {
			return []codegen.Backend{b}, nil
		}
	}
	return nil, &ir.Error{Msg: fmt.Sprintf("unknown back end %q; there are %s", name, strings.Join(Backends(), ", "))}
}

// usable is chosen of those that can make kinds for a target.
func usable(name string, t targets.Target, kinds []codegen.Kind) ([]codegen.Backend, error) {
	if err := checkBackend(name, t, kinds); err != nil {
		return nil, err
	}
	return selectBackends(name)
}

// DefaultEmit lists the files that a user of a target wants first: a shared library and its header,
// a module, a bundle for a device, or C where no back end makes either.
func DefaultEmit(target, backend string) []codegen.Kind {
	if firstMade(target, backend, codegen.Bundle, codegen.SO) == codegen.Bundle {
		return []codegen.Kind{codegen.Bundle}
	}
	if firstMade(target, backend, codegen.WASM, codegen.SO) == codegen.WASM {
		return []codegen.Kind{codegen.WASM}
	}
	return []codegen.Kind{firstMade(target, backend, codegen.SO, codegen.Source), codegen.Header}
}

// DefaultTarget is the target of files of some kinds where none is named: this machine or, for
// kinds that are not made for it, the first that has them all.
func DefaultTarget(kinds []codegen.Kind) string {
	has := func(t targets.Target) bool {
		return !slices.ContainsFunc(kinds, func(k codegen.Kind) bool {
			return !k.OfAll() && len(backendsFor(t, []codegen.Kind{k})) == 0
		})
	}
	if host, err := targets.Host(); err == nil && has(host) {
		return targets.HostName
	}
	all := targets.All()
	if i := slices.IndexFunc(all, has); i >= 0 {
		return all[i].Name
	}
	return targets.HostName
}

// CodeText is the kind of file that shows codegen's code. Options.Observe sees it if Options.Emit
// has it.
func CodeText(target, backend string) codegen.Kind {
	for _, k := range []codegen.Kind{codegen.CL, codegen.PTX, codegen.WGSL} {
		if firstMade(target, backend, k, codegen.LL) == k {
			return k
		}
	}
	return firstMade(target, backend, codegen.LL, codegen.Source)
}

// firstMade is the first kind if the back end, or any if it makes neither kind, makes it for a
// target, else the second.
func firstMade(target, backend string, first, second codegen.Kind) codegen.Kind {
	t, err := findTarget(target)
	use, berr := selectBackends(backend)
	if err != nil || berr != nil { // which compiling will tell
		return first
	}
	both := []codegen.Kind{first, second}
	if !slices.ContainsFunc(use, func(b codegen.Backend) bool { return refusal(b, t, both) == "" }) {
		use = backends()
	}
	if slices.ContainsFunc(use, func(b codegen.Backend) bool { return refusal(b, t, both[:1]) == "" }) {
		return first
	}
	return second
}
