package compile

import "ripc/fusedglue"

// Stages lists the names that Options.Observe sees, in order.
func Stages() []string {
	names := []string{"import"}
	for _, p := range fusedglue.Passes() {
		names = append(names, "fusedglue."+p.Name)
	}
	return append(names, "fusedglue", "lower", "schedule", "codegen")
}

// OptionalPasses lists the passes that Options.Disable may name.
func OptionalPasses() []string {
	var names []string
	for _, p := range fusedglue.Passes() {
		if !p.Required {
			names = append(names, p.Name)
		}
	}
	return names
}
