package runtime

import (
	"slices"

	"ripc/targets/cpu"
)

// HostArch returns this machine's architecture as descriptions name it.
func HostArch() string { return cpu.Arch() }

// HostFeatures lists, sorted, the CPU features (LLVM's names without "+") that this CPU and its
// operating system offer and that this loader can check. Compile for the host with a subset of
// these.
func HostFeatures() []string {
	var out []string
	for name, has := range cpu.Features() {
		if has {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// CheckArch returns nil if arch is this machine's architecture, or an *ArchError.
func CheckArch(path, arch string) error {
	if host := HostArch(); arch != host {
		return &ArchError{Path: path, Got: arch, Host: host}
	}
	return nil
}

// CheckFeatures returns nil if this machine offers all features, or a *FeatureError that lists
// those absent and those the loader does not know. Names that only tune ("prefer-...", "fast-...",
// "slow-...") are passed over.
func CheckFeatures(path, model string, features []string) error {
	table := cpu.Features()
	e := &FeatureError{Path: path, CPU: model}
	for name, has := range table {
		if has {
			e.VectorBits = max(e.VectorBits, cpu.VectorBits(name))
		}
	}
	for _, name := range features {
		has, known := table[name]
		switch {
		case known && has, cpu.IsTuning(name):
		case known:
			e.Missing = append(e.Missing, name)
		default:
			e.Unknown = append(e.Unknown, name)
		}
	}
	if len(e.Missing)+len(e.Unknown) > 0 {
		return e
	}
	return nil
}
