package emit

// KernelFor is Kernel with a row of its own.
var KernelFor = kernelFor
