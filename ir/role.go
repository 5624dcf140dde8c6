package ir

// Role is the purpose of a buffer of a layer, as Axis is that of a loop. Strategies find buffers by
// their roles. A role never changes the result, and a buffer need not have one.
type Role uint8

// The roles. Parameters have none.
const (
	NoRole       Role = iota
	RolePad           // a copy of the input, with a border or in another form, read by sums, tables or further copies
	RoleTable         // partial-sum tables (LUT kernels)
	RoleSum           // accumulators
	RoleWindow        // the largest accumulator of each window
	RoleValue         // numbers between the accumulators and the output
	RolePosition      // values of all positions, the input of a mean
	RoleMean          // sums of all positions
)

// String returns the role in .ripir text; NoRole is not written.
func (r Role) String() string {
	return [...]string{"none", "pad", "table", "sum", "window", "value", "position", "mean"}[r]
}

// ParseRole is the inverse of Role.String, for roles but NoRole.
func ParseRole(s string) (Role, error) { return parse("role", s, RoleMean) }
