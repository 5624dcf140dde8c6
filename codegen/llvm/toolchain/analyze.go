package toolchain

import (
	"context"
	"encoding/json"
	"fmt"

	"ripc/codegen/llvm/rows"
)

// Region is llvm-mca's summary of a piece of code that is marked, or of all.
type Region struct {
	Name        string
	SummaryView struct {
		TotalCycles, Instructions int     // of instructions that the model knows
		BlockRThroughput          float64 // cycles of one round, were there many
	}
}

// Analyze lets llvm-mca estimate assembly by row's model of a core. A call takes a cycle, since the
// called code is counted as well. Regions without a known instruction are left out.
func (t *Tools) Analyze(ctx context.Context, row rows.Row, assembly []byte) ([]Region, error) {
	out, err := t.Run(ctx, "llvm-mca", assembly, "-mtriple="+row.Triple, "-mcpu="+row.Model, "-mattr="+row.Attrs,
		"-iterations=1", "-call-latency=1", "-skip-unsupported-instructions=any", "-instruction-info=false",
		"-resource-pressure=false", "-json")
	if err != nil {
		return nil, err
	}
	var report struct{ CodeRegions []Region }
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, fmt.Errorf("llvm-mca's report: %w", err)
	}
	return report.CodeRegions, nil
}
