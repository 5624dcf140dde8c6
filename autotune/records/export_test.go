package records

import "time"

// SetWait changes how long f waits for other processes.
func (f *File) SetWait(d time.Duration) { f.wait = d }
