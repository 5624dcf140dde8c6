//go:build !linux || !(amd64 || arm64) || ripc_static

package library

// loadable says that LLVM's library can be loaded on this platform.
const loadable = false
