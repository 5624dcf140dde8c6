package autotune

// Traces are the steps of an agreement's schedules, by Func.
func (a *Agreement) Traces() map[string][]string {
	all := map[string][]string{}
	for f, c := range a.Schedules {
		all[f] = c.Trace.Lines()
	}
	return all
}
