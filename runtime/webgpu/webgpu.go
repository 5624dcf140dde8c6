// Package webgpu runs bundles of kernels in a headless browser that has no GPU: its WebGPU draws on
// the processor. It is the test bed of the kernels that pages run.
package webgpu

import _ "embed"

// Browser is the program that is started.
const Browser = "chromium"

// Script is JavaScript that runs kernels: its function openGPU.
//
//go:embed gpu.js
var Script string
