package estimate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ripc/engine/simulate"
	"ripc/targets/boards"
)

// TestTimingsOfCores: a core whose manual has no table has no timings, by name. The rows of the others say where they are from.
func TestTimingsOfCores(t *testing.T) {
	for _, b := range boards.All() {
		timings, err := TimingsOf(b.Target)
		if b.Timings == nil {
			if !errors.Is(err, ErrNoTimings) || !strings.Contains(err.Error(), b.Target) {
				t.Errorf("%s: %v", b.Target, err)
			}
			continue
		}
		if err != nil || timings.Manual == "" || timings.Core == "" {
			t.Errorf("%s: %+v, %v", b.Target, timings, err)
			continue
		}
		named := 0
		for _, row := range timings.Rows {
			named += len(strings.Fields(row.Mnemonics))
			if row.Cycles < 1 || !strings.Contains(row.Source, "table ") && !strings.Contains(row.Source, "3.3.") {
				t.Errorf("%s: %s: %d cycles by %q", b.Target, row.Mnemonics, row.Cycles, row.Source)
			}
		}
		if named != len(timings.rows) {
			t.Errorf("%s: %d mnemonics in the rows, %d of them different", b.Target, named, len(timings.rows))
		}
	}
}

// printed is a line of objdump -d.
func printed(bytes, text string) string { return "   0:\t" + bytes + " \t" + text + "\n" }

// m4 returns the instructions of a listing.
func m4(t *testing.T, listing string) []instruction {
	t.Helper()
	timings, err := TimingsOf("cortex-m4")
	if err != nil {
		t.Fatal(err)
	}
	code, err := timings.read([]byte(listing))
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestMnemonics(t *testing.T) {
	for text, want := range map[string]string{
		"adds": "add", "addeq": "add", "subseq.w": "sub", "bls.n": "b", "bleq": "bl", "lsls": "lsl", "lslle": "lsl", "bics.w": "bic", "movs": "mov",
		"movls": "mov", "teqne": "teq", "ittet": "it", "it": "it", "sbcs": "sbc", "rsbsgt": "rsb", "ldrhi": "ldr", "ldrh.w": "ldrh", "vmovge.f32": "vmov",
		"vfma.f32": "vfma", "popgt": "pop", "smlals": "smlal", "bxeq": "bx", "cbnz": "cbnz", "muls": "mul", "vmrs": "vmrs",
	} {
		code := m4(t, printed("4770", text+"\tr0"))
		if len(code) != 1 || code[0].name != want || code[0].Timing == nil {
			t.Errorf("%s: %+v, want %s", text, code, want)
		}
	}
	if code := m4(t, printed("4770", "frobnicate\tr0")); len(code) != 1 || code[0].Timing != nil || code[0].cost(nil) != 1 {
		t.Errorf("an unknown instruction: %+v", code)
	}
}

// TestCosts has the manual's own examples (3.3.2), and one of each rule.
func TestCosts(t *testing.T) {
	for text, want := range map[string][]int{
		"ldr r0, [r1]; ldr r1, [r2]":                          {2, 1},
		"ldr r0, [r1, r2]; str r0, [r3, #20]":                 {2, 1},
		"ldr r0, [r1, r2]; str r1, [r3, r2]":                  {2, 1},
		"ldr r0, [r1, r5]; ldr r1, [r2]; ldr r2, [r3, #4]":    {2, 1, 1},
		"ldr r0, [r1]; ldr r2, [r0]":                          {2, 2},
		"ldr r0, [r1]; add r2, r2, r0; ldr r3, [r4]":          {2, 1, 2},
		"str r0, [r1, #4]; ldr r2, [r3]":                      {1, 2},
		"strb r0, [r1, r2]":                                   {2},
		"adds r1, r1, #4; ldr r0, [r1]":                       {1, 3},
		"umull r0, r1, r2, r3; ldr r4, [r1]":                  {1, 3},
		"cmp r1, #0; ldr r0, [r1]":                            {1, 2},
		"ldmia.w r0!, {r1, r4-r6}":                            {5},
		"push {r4, lr}":                                       {3},
		"sub sp, #8; stmdb sp!, {r4, r5, r6, r7, r8, sl, lr}": {1, 9},
		"ldrd r1, r2, [r4]":                                   {3},
		"vldr s0, [r1]; vldr d1, [r1, #4]":                    {2, 3},
		"vpush {d8-d9}":                                       {5},
		"vadd.f32 s0, s1, s2; vmul.f32 s3, s0, s0":            {1, 2},
		"vadd.f32 s0, s1, s2; vmul.f32 s3, s1, s1":            {1, 1},
		"vmul.f32 s0, s1, s2; vfma.f32 s0, s3, s4":            {1, 3},
		"vfma.f32 s0, s1, s2; vfma.f32 s3, s0, s4":            {3, 4},
		"vdiv.f32 s0, s1, s2; vstr s0, [r1]":                  {14, 3},
		"vcvt.f32.s32 s0, s0; vmov r0, s0":                    {1, 3},
		"vmov s0, r0; vmov.f32 s1, s0; vmov s2, s3, r0, r1":   {2, 1, 2},
		"vmov.32 d0[1], r0":                                   {1},
		"udiv r0, r1, r2":                                     {12},
		"cmp r0, #0; ite eq; moveq r0, #1; movne r0, #2":      {1, 0, 1, 1},
	} {
		listing := ""
		for _, one := range strings.Split(text, "; ") {
			mnemonic, operands, _ := strings.Cut(one, " ")
			listing += printed("bf00", mnemonic+"\t"+operands+"\t@ 0x4 r0")
		}
		var got []int
		code := m4(t, listing)
		for i := range code {
			var before *instruction
			if i > 0 {
				before = &code[i-1]
			}
			got = append(got, code[i].cost(before))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// loop sums words: ten rounds, and its data.
const loop = `
a.elf:     file format elf32-littlearm

00000010 <sum>:
  10:	2000      	movs	r0, #0
  12:	220a      	movs	r2, #10
  14:	f851 3b04 	ldr.w	r3, [r1], #4
  18:	3a01      	subs	r2, #1
  1a:	4418      	add	r0, r3
  1c:	d1fa      	bne.n	14 <sum+0x4>
  1e:	4b01      	ldr	r3, [pc, #4]	@ (24 <sum+0x14>)
  20:	6018      	str	r0, [r3, #0]
  22:	4770      	bx	lr
  24:	20000000 	.word	0x20000000
`

func TestSums(t *testing.T) {
	timings, err := TimingsOf("cortex-m4")
	if err != nil {
		t.Fatal(err)
	}
	p := &simulate.Profile{
		Pieces: []simulate.Piece{{First: 0x10, Last: 0x1c, Instructions: 6, Times: 1}, {First: 0x14, Last: 0x1c, Instructions: 4, Times: 9}, {First: 0x1e, Last: 0x22, Instructions: 3, Times: 1}},
		Jumps:  []simulate.Jump{{From: 0x1c, To: 0x14, Times: 9}, {From: 0x1c, To: 0x1e, Times: 1}},
	}
	// movs, movs; ten rounds of ldr, subs, add, bne, nine of which refill; ldr, then str, to whose address it leads; bx, which leaves.
	const want = 2 + 10*(2+1+1+1) + 9 + 2 + 1 + 1
	got, err := timings.Jobs([]byte(loop), []*simulate.Profile{p, {}})
	if err != nil || got[0] != (Cycles{Cycles: want}) || got[1] != (Cycles{}) {
		t.Errorf("%+v, %v, want %d cycles", got, err, want)
	}
	got, err = timings.Jobs([]byte(strings.ReplaceAll(loop, "subs", "frob")), []*simulate.Profile{p})
	if err != nil || got[0] != (Cycles{Cycles: want, Unknown: 10}) {
		t.Errorf("with an unknown instruction: %+v, %v", got, err)
	}
	for what, bad := range map[string]*simulate.Profile{
		"no instruction at 0x24": {Pieces: []simulate.Piece{{First: 0x24, Last: 0x24, Instructions: 1, Times: 1}}},
		"no instruction at 0x16": {Jumps: []simulate.Jump{{From: 0x16, To: 0x10, Times: 1}}},
		"no straight code":       {Pieces: []simulate.Piece{{First: 0x10, Last: 0x16, Instructions: 3, Times: 1}}},
		"more often than":        {Pieces: p.Pieces[:1], Jumps: []simulate.Jump{{From: 0x12, To: 0x14, Times: 2}}},
	} {
		if _, err := timings.Jobs([]byte(loop), []*simulate.Profile{bad}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want %q", err, what)
		}
	}
}
