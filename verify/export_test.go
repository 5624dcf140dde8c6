package verify

// Keep makes a simulation keep at most n bytes of workspaces at a time.
func (in *Input) Keep(n int) { in.kept = n }
