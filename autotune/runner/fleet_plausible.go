package runner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"ripc/autotune/records"
)

// checkPlausible fails if r cannot be the answer to j of a machine like m, whatever was measured.
// Whether the outputs are right is for the tuner to say.
func checkPlausible(r Result, j Job, m records.Machine, unit records.Unit) error {
	switch got := &r.Measurement; {
	case r.ID != j.ID:
		return errors.New("it answers another job")
	case r.Machine.CPU != m.CPU || r.Machine.Simulated != m.Simulated:
		return fmt.Errorf("it is of a %s, not of a %s", r.Machine.CPU, m.CPU)
	case got.Check() != nil:
		return got.Check()
	case got.Failure != nil:
		return nil
	case got.Unit != unit:
		return fmt.Errorf("its unit is %s, not %s", got.Unit, unit)
	case got.Cost < 1 || unit == records.Nanoseconds && got.Cost > float64(cmp.Or(j.Settings.Limit, Defaults().Limit)):
		return fmt.Errorf("a cost of %g %s", got.Cost, got.Unit)
	// they need not be all of them
	case len(got.Samples) > 0 && (got.Cost < slices.Min(got.Samples)/2 || got.Cost > slices.Max(got.Samples)*2):
		return fmt.Errorf("a cost of %g, of samples from %g to %g", got.Cost, slices.Min(got.Samples),
			slices.Max(got.Samples))
	case got.GHz > 20 || got.Celsius < -100 || got.Celsius > 200:
		return fmt.Errorf("%g GHz and %g degrees", got.GHz, got.Celsius)
	}
	return nil
}
