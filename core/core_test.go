package core_test

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"ripc/core"
	"ripc/engine/verilator"
	"ripc/internal/tools"
	"ripc/measure/yosys"
	"ripc/targets/fpga"
)

// TestRandomPrograms: Verilog and the model agree on random programs, to the bit and to the cycle.
func TestRandomPrograms(t *testing.T) {
	for _, c := range []core.Config{
		{16, 64, 24, true, 5, 4, 4, 5}, {32, 32, 16, true, 5, 4, 4, 5}, {8, 256, 32, false, 5, 4, 4, 5},
	} {
		p := randomProgram(c, rand.New(rand.NewPCG(1, uint64(c.Lanes))))
		const latency = 9
		want, err := p.Cycles(latency)
		if err != nil {
			t.Fatal(err)
		}
		s, err := verilator.NewCore(t.Context(), p, latency, p.Words())
		if missing := (*tools.MissingError)(nil); errors.As(err, &missing) && os.Getenv("RIPC_REQUIRE_FPGA") == "" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		memory, cycles, err := s.Run(t.Context(), p.Memory)
		if err != nil {
			t.Fatal(err)
		}
		if cycles != want {
			t.Errorf("%s: %d cycles, the model has %d", c, cycles, want)
		}
		if model := p.Run(); !slices.Equal(memory, model) {
			for i := range model {
				if memory[i] != model[i] {
					t.Errorf("%s: number %d is %08x, the model has %08x", c, i, memory[i], model[i])
					break
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// randomProgram loads numbers, computes with each operation, and stores the sums.
func randomProgram(c core.Config, r *rand.Rand) *core.Program {
	p := &core.Program{Config: c}
	for range 8192 * c.Lanes / 32 {
		p.Memory = append(p.Memory, r.Uint32())
	}
	add := func(i core.Instr) *core.Instr {
		p.Instrs = append(p.Instrs, i)
		return &p.Instrs[len(p.Instrs)-1]
	}
	flat := func(n int) []core.Loop { return []core.Loop{{n, [3]int{1, 1, 0}}} }
	const results = 1024
	for round := range 4 {
		i := add(core.Instr{Op: core.LoadInput, At: [3]int{0, r.IntN(99)}, Loops: []core.Loop{{4, [3]int{1, 3}}, {8, [3]int{4, 7}}}})
		i.Pop[1] = round > 0
		add(core.Instr{Op: core.LoadWeight, At: [3]int{0, r.IntN(9)}, Loops: flat(c.Rows << c.Weights)})
		add(core.Instr{Op: core.LoadTable, At: [3]int{0, r.IntN(99)}, Loops: flat(c.TableBeats() << c.Tables)}).Push[1] = true
		ops := []core.Op{core.Planes, core.Take, core.TakeBytes, core.Level, core.Largest, core.Zero}
		if c.Bytes {
			ops = append(ops, core.Bytes)
		}
		for n, op := range ops {
			i := core.Instr{Op: op, Reset: op == core.Zero || n%2 == 0 || round == 0, Inner: 2,
				Loops: []core.Loop{{3, [3]int{0, 1, 2}}, {2, [3]int{0, 3, 1}}, {3, [3]int{2, 4, 3}}, {2, [3]int{1, -2, -1}}}}
			i.At = [3]int{r.IntN(8), 2 + r.IntN(4), 1 + r.IntN(4)}
			switch op {
			case core.Zero:
				i.Inner, i.Loops[0].Strides[0], i.Loops[1].Strides[0] = 0, 1, 2
			case core.Take, core.TakeBytes:
				i.Loops[0].Count = 8
			case core.Level, core.Largest:
				i.Reset = true
				i.At[0] += 16
				i.Loops[1].Strides[1] = 2
				i.Loops[2].Strides[1] = 0
			}
			i.Pop[0], i.Pop[1] = n == 0, n == 0 && round > 0
			i.Push[0], i.Push[1] = n == len(ops)-1 && round < 3, n == len(ops)-1
			add(i)
		}
		s := add(core.Instr{Op: core.Store, At: [3]int{0, results*c.Lanes/c.Rows + round*1536}, Loops: []core.Loop{{c.AccBits, [3]int{0, 1}},
			{1 << c.Sums, [3]int{1, c.AccBits}}}})
		s.Pop[0] = true
		add(core.Instr{Op: core.StoreBytes, At: [3]int{0, results*c.Lanes/c.Rows + round*1536 + 1024}, Loops: []core.Loop{{8, [3]int{0, 1}},
			{1 << c.Sums, [3]int{1, 8}}}}).Push[0] = round < 3
	}
	p.Place()
	return p
}

// TestEstimates: cells estimated now against those that Yosys counted, of today's text, for designs
// that the model has not seen. RIPC_THOROUGH counts again; it takes Yosys minutes for each design.
func TestEstimates(t *testing.T) {
	f, judged := fpga.Families()[0], 0
	if core.Models()[f.Name].Source != core.SourceKey() {
		t.Error("core.v is not the text that was counted; count again: go run ./lab fpga cores")
	}
	for _, d := range core.Models()[f.Name].Designs {
		c, err := core.Parse(d.Design)
		if err != nil {
			t.Fatal(err)
		}
		if !d.Fitted {
			judged++
			for k, n := range core.Estimate(c, f) {
				if off := math.Abs(float64(n - d.Used[k])); off > 0.15*float64(d.Used[k]) {
					t.Errorf("%s: %d %s estimated, Yosys counts %d", c, n, k, d.Used[k])
				}
			}
		}
		if os.Getenv("RIPC_THOROUGH") != "" {
			if r, err := yosys.Synthesize(t.Context(), c.Verilog(), "core", f, ""); err != nil || !maps.Equal(r.Used, d.Used) {
				t.Errorf("%s: %v %v, recorded are %v", c, err, r, d.Used)
			}
		}
	}
	if judged < 12 {
		t.Errorf("%d designs", judged)
	}
}

// TestDesigns: the space has hundreds of designs that fit a small part, and names are read back.
func TestDesigns(t *testing.T) {
	target, _ := fpga.Lookup("pynq-z2")
	all := core.Designs(target)
	if len(all) < 200 {
		t.Errorf("%d designs", len(all))
	}
	t.Logf("%d designs, from %v to %v", len(all), all[0], all[len(all)-1])
	for _, d := range all {
		if c, err := core.Parse(d.Config.String()); err != nil || c != d.Config {
			t.Errorf("%s: %v, %v", d.Config, c, err)
		}
		for r, n := range d.Cost {
			if n > target.Part.Has(r) {
				t.Errorf("%s takes %d %s", d.Config, n, r)
			}
		}
	}
	for name, want := range map[string]string{"": "write one as r16", "r16": "write one as r16", "r16l64a24b": "write one as",
		"r16l64a24-9.9.9.9 ": "write one as", "r16l0a24-9.9.9.9": "write one as", "r12l64a24-9.9.9.9": "rows can be 8 or 16, not 12",
		"r64l32a24-9.9.9.9": "rows can be 32, not 64", "r1l64a24-9.9.9.9": "rows can be 8, not 1",
		"r16l64a24-9.9.9.99": "sums can be 12, not 99", "r64l64a24-9.11.9.9": "weights can be 10, not 11"} {
		if c, err := core.Parse(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read as %v: %v", name, c, err)
		}
	}
}

// TestExceeds: a design that a part does not hold by estimate, with the nearest one that fits.
func TestExceeds(t *testing.T) {
	target, _ := fpga.Lookup("pynq-z2")
	none, tiny := target, target
	none.Family.Name, tiny.Part.LUTs = "unknown", 100
	large, _ := core.Parse("r64l256a24b-12.10.9.12")
	for _, c := range []struct {
		core.Config
		on          fpga.Target
		want, fails string
	}{{core.Default(), target, "", ""}, {large, target, "takes 2048 dsps of 220 ", ""}, {large, target, "that fits is r", ""},
		{large, none, "not known for family unknown", ""}, {large, tiny, "", "luts of 100 and "}} {
		got, err := c.Exceeds(c.on)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || (err == nil) != (c.fails == "") ||
			err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %q %v, want %q %q", c.Config, got, err, c.want, c.fails)
		}
	}
}
