package ir

import "fmt"

// Role says what a buffer of a layer is for, as Axis does of a loop. Strategies find buffers by
// their roles. A role never changes the result, and a buffer need not have one.
type Role uint8

// The roles. Parameters have none.
const (
	NoRole       Role = iota
	RolePad           // a copy of the input, with a border or in another form, that sums, tables or further copies read
	RoleTable         // counts that sums look up
	RoleSum           // accumulators
	RoleWindow        // the best accumulator of each window
	RoleValue         // numbers between the accumulators and the output
	RolePosition      // values of all positions, of which a mean is made
	RoleMean          // sums of all positions
)

// String is the role in .ripir text; NoRole is not written.
func (r Role) String() string {
	return [...]string{"none", "pad", "table", "sum", "window", "value", "position", "mean"}[r]
}

// ParseRole is the inverse of Role.String.
func ParseRole(s string) (Role, error) {
	for r := RolePad; r <= RoleMean; r++ {
		if r.String() == s {
			return r, nil
		}
	}
	return NoRole, fmt.Errorf("unknown role %q (want pad, table, sum, window, value, position or mean)", s)
}
