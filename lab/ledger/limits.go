package ledger

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"

	"ripc/codegen/llvm/rows"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/stop"
	"ripc/measure/limits"
	"ripc/targets"
)

// coreLimits returns the multiply-adds a cycle of the loops of package limits, by limit, on LLVM's
// model of t's core. Layers are estimated by the same model.
func coreLimits(ctx context.Context, tools *toolchain.Tools, t targets.Target) (_ map[string]float64, err error) {
	defer stop.Catch(&err)
	kernels := stop.Must(limits.Kernels())
	all := map[string]float64{}
	for _, k := range kernels {
		if !k.Runs(t) {
			continue
		}
		text := stop.Must(tools.Compile(ctx, nil, k.LLVM(), t, toolchain.Asm))
		cycles, err := roundCycles(ctx, tools, t, text)
		if err != nil {
			return nil, fmt.Errorf("limit %s on %s: %w", k.Name, t.Name, err)
		}
		const digits = 1000 // three behind the point
		rate := float64(k.MACs) * float64(k.Lanes) / cycles
		all[k.Limit] = max(all[k.Limit], math.Round(digits*rate)/digits)
	}
	return all, nil
}

// loopText matches the only loop of a kernel, vector the operands that are vector registers.
var (
	loopText = regexp.MustCompile(`(?ms)^\.LBB0_\d+:.*?$(.*?)^\s+b\S+\s+\.LBB0_\d+$`)
	vector   = regexp.MustCompile(`\b[vqd]\d+\b`)
)

// roundCycles returns the cycles of a round of the loop in a kernel's assembly, by the rates of its
// vector instructions. It leaves out the counter of rounds, which a longer loop would hide.
func roundCycles(ctx context.Context, tools *toolchain.Tools, t targets.Target, text []byte) (float64, error) {
	loop := loopText.FindSubmatch(text)
	if loop == nil {
		return 0, fmt.Errorf("no loop in\n%s", text)
	}
	row, _ := rows.Of(t)
	var code bytes.Buffer
	n := 0
	for line := range strings.Lines(string(loop[1])) {
		if vector.MatchString(line) {
			code.WriteString(line)
			n++
		}
	}
	regions, err := tools.Analyze(ctx, row, code.Bytes())
	if err != nil {
		return 0, err
	}
	if len(regions) != 1 || regions[0].SummaryView.BlockRThroughput == 0 {
		return 0, fmt.Errorf("llvm-mca's report has no cycles of\n%s", code.Bytes())
	}
	v := regions[0].SummaryView
	return v.BlockRThroughput + float64(n-v.Instructions), nil // the model lacks the others
}
