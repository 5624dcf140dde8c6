package features

import (
	"maps"
	"slices"
)

// Instructions are the names of those that are counted.
func (d *Describer) Instructions() []string { return slices.Sorted(maps.Keys(d.instructions)) }
