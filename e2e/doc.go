// Package e2e tests the whole of ripc: random networks against the interpreter and against plain
// arithmetic on all targets, models of other programs against the outputs of these programs,
// kernels, boards and documents.
package e2e
