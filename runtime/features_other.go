//go:build !amd64 && !arm64 && !arm

package runtime

import goruntime "runtime"

func hostArch() string { return goruntime.GOARCH }

// featureTable knows nothing here; no artifact is written for this architecture.
func featureTable() map[string]bool { return nil }
