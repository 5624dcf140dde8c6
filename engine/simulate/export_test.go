package simulate

// WithoutPlugins is m under a qemu that has no plugins.
func (m *Machine) WithoutPlugins() *Machine {
	n := *m
	n.plugin = nil
	return &n
}
