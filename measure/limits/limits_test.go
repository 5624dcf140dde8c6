package limits

import (
	"regexp"
	"slices"
	"testing"

	"ripc/codegen/llvm/toolchain"
	"ripc/internal/need"
	"ripc/targets"
)

// TestKernels: each kernel has the instruction that it is about, and nothing that takes longer in its loop: LLVM has found no way
// around it.
func TestKernels(t *testing.T) {
	tools, err := toolchain.Find()
	need.OK(t, err)
	all, err := Kernels()
	if err != nil {
		t.Fatal(err)
	}
	// what has to be there as often as there are lanes, on the first target that can run the kernel
	instructions := map[string]string{
		"fma512": "vfmadd", "fma256": "vfmadd", "mul_add128": "v?mulps", "vpdpbusd512": "vpdpbusd", "vpmaddubsw256": "vpmaddubsw",
		"popcnt512": "vpopcntq", "pairs512": "vpopcntq", "popcnt256": "vpaddq", "words64": "popcntq", "vpermb512": "vpermb", "pshufb256": "vpshufb",
		"fmla128": "fmla", "sdot128": "sdot", "smlal128": "smull2?", "cnt128": `cnt\s`, "tbl128": "tbl",
		"vfma128": "vfma", "vmlal64": "vm(ul|la)l", "vcnt128": "vcnt", "vtbl64": "vtbl",
	}
	tested := 0
	for _, k := range all {
		if !slices.Contains(Names(), k.Limit) || k.MACs <= 0 || k.What == "" {
			t.Errorf("%s: %+v", k.Name, k)
		}
		machines := slices.DeleteFunc(targets.All(), func(m targets.Target) bool { return !k.Runs(m) })
		if len(machines) == 0 {
			continue // a feature that only other machines than this and the boards have
		}
		tested++
		text, err := tools.Compile(t.Context(), nil, k.LLVM(), machines[0], toolchain.Asm)
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		want, ok := instructions[k.Name]
		if !ok {
			t.Errorf("%s: the test does not know its instruction", k.Name)
			continue
		}
		if n := len(regexp.MustCompile(`(?m)^\s+`+want).FindAll(text, -1)); n < k.Lanes {
			t.Errorf("%s on %s: %s is there %d times, want %d\n%s", k.Name, machines[0].Name, want, n, k.Lanes, text)
		}
	}
	if tested < 10 {
		t.Errorf("only %d kernels were compiled", tested)
	}
}

// TestMeasure: what this machine can run gives rates, and two threads together no lower a rate than a part of one's.
func TestMeasure(t *testing.T) {
	_, err := toolchain.Find()
	need.OK(t, err)
	host, err := targets.Host()
	if err != nil {
		t.Skip("skipped: ", err)
	}
	s, err := Open(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found := map[string]bool{}
	for i, k := range s.Kernels {
		found[k.Limit] = true
		for threads := 1; threads <= 2; threads++ {
			if r := s.Measure(i, threads, 1); r.PerSecond <= 0 || r.PerCycle <= 0 || r.GHz <= 0 {
				t.Errorf("%s, threads: %d: %+v", k.Name, threads, r)
			}
		}
	}
	if !found["fp32"] || !found["bits"] {
		t.Errorf("this machine has limits %v", found)
	}
}

// TestRuns: a kernel runs where its architecture and features are.
func TestRuns(t *testing.T) {
	k := Kernel{Arch: "aarch64", Needs: []string{"dotprod"}}
	for name, want := range map[string]bool{"rpi5": true, "rpi4": false, "x86-64-v4": false} {
		m, err := targets.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if k.Runs(m) != want {
			t.Errorf("%s: %v", name, k.Runs(m))
		}
	}
}
