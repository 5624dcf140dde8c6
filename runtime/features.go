package runtime

import (
	"slices"
	"strings"
)

// HostArch returns this machine's architecture as descriptions name it: "x86_64", "aarch64", "arm", or Go's name.
func HostArch() string { return hostArch() }

// HostFeatures lists, sorted, the CPU features (LLVM's names without "+") that this CPU and its operating system offer
// and that this loader can check. Compile for the host with a subset of these.
func HostFeatures() []string {
	var out []string
	for name, has := range featureTable() {
		if has {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// CheckFeatures returns nil if this machine offers all features, or a *FeatureError that lists those absent and those
// the loader does not know. Names that only tune ("prefer-...", "fast-...", "slow-...") are passed over.
func CheckFeatures(path, cpu string, features []string) error {
	table := featureTable()
	e := &FeatureError{Path: path, CPU: cpu}
	for _, name := range features {
		has, known := table[name]
		switch {
		case known && has, isTuning(name):
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

// isTuning says whether a name of LLVM's changes the choice of instructions but not the set of them.
func isTuning(name string) bool {
	return strings.HasPrefix(name, "prefer-") || strings.HasPrefix(name, "fast-") || strings.HasPrefix(name, "slow-")
}
