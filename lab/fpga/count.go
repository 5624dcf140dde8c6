package fpga

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/targets/fpga"
)

// page has the tables of counted accelerators.
const page = "docs/fpga.md"

// countsFile keeps the counts.
var countsFile = filepath.Join(task.Data, "fpga.jsonl")

// ask is a network with the size of its accelerator: cycles a picture, or a reuse factor.
type ask struct {
	Network string `json:"network"` // a file in testdata
	Board   string `json:"board"`
	Cycles  int    `json:"asked_cycles,omitempty"`
	Reuse   int    `json:"asked_reuse,omitempty"`
}

// String is the size, as tables have it.
func (a ask) String() string {
	if a.Reuse > 0 {
		return fmt.Sprintf("reuse %d", a.Reuse)
	}
	return fmt.Sprint(a.Cycles)
}

// count is the cells of an accelerator after synthesis.
type count struct {
	ask
	Folds map[string]dataflow.Fold `json:"folds"`
	Takes int                      `json:"cycles"`
	Used  map[fpga.Resource]int    `json:"used"`
	Tool  string                   `json:"tool"`
	Date  string                   `json:"date"`
	// Source is a hash of the Verilog that was counted. MHz is the clock of the bitstream, where
	// open tools make it.
	Source string  `json:"source"`
	MHz    float64 `json:"mhz,omitempty"`
}

// asks lists the accelerators.
func asks() (all []ask) {
	add := func(network string, cycles ...int) {
		for _, n := range cycles {
			all = append(all, ask{network, "pynq-z2", n, 0})
		}
	}
	add("fpga/mlp4.json", 64, 392, 3136)
	add("architectures/finn_mlp4_w1a2.onnx", 32, 64, 256, 1024)
	add("architectures/finn_mlp4_w1a1.onnx", 64, 512)
	add("twin/shortcuts.json", 1152)
	add("architectures/bnn.onnx", 1152, 4608)
	add("fpga/every.json", 2400)
	add("architectures/har.onnx", 2400)
	add("architectures/keywords.onnx", 2400)
	add("fpga/cnv4.json", 8712, 139392)
	add("qonnx/digits_w1a2.onnx", 9216, 18432, 73728, 589824)
	add("architectures/finn_cnv4_w1a2.onnx", 10368, 41472)
	add("fpga/cnv8half.json", 73728)
	for _, factor := range []int{64, 32, 16, 8} {
		all = append(all, ask{"fpga/cnv4.json", "zcu104", 0, factor})
	}
	return append(all, ask{"qonnx/digits_w1a2.onnx", "ulx3s-25f", 73728, 0},
		ask{"fpga/mlp4.json", "icebreaker", 3136, 0})
}

// countCommand returns the command that counts the accelerators' cells.
func countCommand() *cobra.Command {
	var only string
	var shown bool
	c := &cobra.Command{Use: "count", Short: "synthesize accelerators, and write the tables of " + page,
		Long: "Synthesize accelerators with Verilog that was not counted, and write the tables of " + page + ".",
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			wanted, err := regexp.Compile(only)
			if err != nil {
				return err
			}
			all, err := figures.ReadLines[count](countsFile)
			if err != nil {
				return err
			}
			for _, a := range asks() {
				if shown || !wanted.MatchString(fmt.Sprint(a.Network, " ", a, " ", a.Board)) {
					continue
				}
				x, source, err := a.open(c.Context(), ".")
				if err != nil {
					return err
				}
				if slices.ContainsFunc(all, func(n count) bool { return n.ask == a && n.Source == source }) {
					continue
				}
				fmt.Fprintln(c.ErrOrStderr(), a.Network, a, a.Board)
				n, err := a.count(c.Context(), x, source)
				if err != nil {
					return err
				}
				all = append(slices.DeleteFunc(all, func(n count) bool { return n.ask == a }), *n)
				if err := replaceLines(countsFile, all); err != nil {
					return err
				}
			}
			return show(c.Context(), all, c.OutOrStdout())
		}}
	c.Flags().StringVar(&only, "only", "", "only accelerators that match a regular expression")
	c.Flags().BoolVar(&shown, "page", false, "synthesize nothing, write the tables of the counts that are there")
	return c
}

// open is the accelerator that a asks for, and a hash of its Verilog.
func (a ask) open(ctx context.Context, root string) (x *ripc.Accelerator, source string, err error) {
	x, err = ripc.Accelerate(ctx, filepath.Join(root, "testdata", a.Network), ripc.Options{Target: a.Board},
		ripc.FoldOptions{Cycles: a.Cycles, Reuse: a.Reuse})
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", a.Network, err)
	}
	files, err := x.Verilog()
	if err != nil {
		return nil, "", err
	}
	text, err := json.Marshal(files) // its names are sorted
	return x, fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// count synthesizes the accelerator x.
func (a ask) count(ctx context.Context, x *ripc.Accelerator, source string) (*count, error) {
	b, err := x.Measure(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Network, err)
	}
	used := map[fpga.Resource]int{fpga.LUTs: b.LUTs, fpga.FFs: b.FFs, fpga.DSPs: b.DSPs,
		fpga.RAMKbits: int(b.BRAM36 * 36)}
	n := &count{a, x.Point.Folds, b.Cycles, used, b.Tool, time.Now().Format(time.DateOnly), source, 0}
	if x.Target.Family.PlaceRoute != "" {
		r, err := x.Bitstream(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Network, err)
		}
		n.MHz = r.MHz
	}
	return n, nil
}

// estimated is a count beside its estimate.
type estimated struct {
	count
	fold.Cost
	ms    float64 // for a picture, at the board's clock
	isOld bool    // other Verilog was counted
}

// ratio is the ratio of the estimated LUTs to the counted ones.
func (e estimated) ratio() float64 { return e.LUTs / float64(e.Used[fpga.LUTs]) }

// countNear is the number of estimates that are near the counted LUTs.
func countNear(all []estimated) (n int) {
	for _, e := range all {
		if e.ratio() >= .85 && e.ratio() <= 1.15 {
			n++
		}
	}
	return n
}

// estimates puts the counts beside their estimates.
func estimates(ctx context.Context, all []count, root string) (some []estimated, err error) {
	for _, n := range all {
		x, source, err := n.open(ctx, root)
		if err != nil {
			return nil, err
		}
		c := fold.Exact(x.Design.Segment, n.Folds, x.Target).Cost
		some = append(some, estimated{n, c, float64(n.Takes) / x.Clock / 1e3, n.Source != source})
	}
	return some, nil
}

// disordered lists the pairs for a board with counted LUTs that differ by more than a tenth, and
// with estimates in the other order.
func disordered(all []estimated) (pairs []string) {
	const apart = 1.1
	for _, x := range all {
		for _, y := range all {
			if x.Board == y.Board && float64(x.Used[fpga.LUTs]) > apart*float64(y.Used[fpga.LUTs]) && x.LUTs <= y.LUTs {
				pairs = append(pairs, fmt.Sprintf("%s %s and %s %s", x.Network, x.ask, y.Network, y.ask))
			}
		}
	}
	return pairs
}

// show prints all counts beside their estimates, and writes the tables of the page.
func show(ctx context.Context, all []count, w io.Writer) error {
	some, err := estimates(ctx, all, ".")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-34s %-10s %-10s %8s %7s %7s %5s %7s %7s %7s %5s %s\n", "NETWORK", "BOARD", "ASKED",
		"CYCLES", "LUTS", "EST.", "RATIO", "FFS", "EST.", "BRAM36", "DSPS", "BY")
	for _, e := range some {
		fmt.Fprintf(w, "%-34s %-10s %-10s %8d %7d %7.0f %5.2f %7d %7.0f %7.1f %5d %s, %s\n", e.Network, e.Board, e.ask,
			e.Takes, e.Used[fpga.LUTs], e.LUTs, e.ratio(), e.Used[fpga.FFs], e.FFs, fpga.BRAM36(e.Used[fpga.RAMKbits]),
			e.Used[fpga.DSPs], e.Tool, e.Date)
	}
	for _, e := range some {
		if e.isOld {
			fmt.Fprintln(w, "its Verilog is another one now:", e.Network, e.ask)
		}
	}
	for _, p := range disordered(some) {
		fmt.Fprintln(w, "the estimates are in the wrong order:", p)
	}
	text, err := fillPage(".", some)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

// coverage is the list of networks; its first line says how many are whole in hardware.
var coverage = filepath.Join("dataflow", "testdata", "coverage.txt")

// fillPage is the page with the tables.
func fillPage(root string, all []estimated) (string, error) {
	networks, err := os.ReadFile(filepath.Join(root, coverage))
	if err != nil {
		return "", err
	}
	whole, _, _ := strings.Cut(string(networks), "\n")
	byRatio := func(x, y estimated) int { return cmp.Compare(x.ratio(), y.ratio()) }
	old := ""
	if n := len(slices.DeleteFunc(slices.Clone(all), func(e estimated) bool { return !e.isOld })); n > 0 {
		old = fmt.Sprintf(" Of %d, older Verilog was counted.", n)
	}
	routed := ""
	for _, e := range all {
		if e.MHz > 0 {
			routed += fmt.Sprintf(" %s, %s cycles, on %s: %.0f MHz.", e.Network, e.ask, e.Board, e.MHz)
		}
	}
	text := survey(all) + fmt.Sprintf("\nOf %d estimates of LUTs, %d are within 15 %% of the counts. All are %.2f to "+
		"%.2f of them.%s%s\n", len(all), countNear(all), slices.MinFunc(all, byRatio).ratio(),
		slices.MaxFunc(all, byRatio).ratio(), old, routed)
	return task.Fill(root, page, map[string]string{"survey": text, "coverage": whole + "\n"})
}

// peer is an accelerator of the survey (Su et al., "Binary Neural Networks in FPGAs", 2023).
type peer struct {
	ours           ask
	name, by       string
	luts, ffs, dsp int
	bram36, ms     float64
	why            string // ours is not made
}

func peers() []peer {
	pynq := func(network string, cycles int) ask { return ask{"fpga/" + network + ".json", "pynq-z2", cycles, 0} }
	reuse := func(factor int) ask { return ask{"fpga/cnv4.json", "zcu104", 0, factor} }
	return []peer{
		{pynq("mlp4", 64), "MLP-4", "FINN", 11579, 17981, 0, 14.5, 0, ""},
		{pynq("cnv4", 8712), "CNV-4", "FINN", 18773, 24925, 0, 42, 0, ""},
		{pynq("cnv8half", 73728), "CNV-8, half", "FINN", 25318, 31608, 0, 90, 50, ""},
		{ask{}, "CNV-8", "FINN", 41713, 53280, 0, 194, 350, "exceeds block RAM"},
		{reuse(64), "CNV-4, reuse 64", "hls4ml", 61108, 41158, 81, 51.5, .217, ""},
		{reuse(32), "reuse 32, scales", "hls4ml", 64916, 43170, 161, 69.5, .186, ""},
		{reuse(16), "reuse 16, scales", "hls4ml", 72021, 46028, 251, 90.5, .170, ""},
		{reuse(8), "reuse 8, scales", "hls4ml", 83152, 58587, 502, 148, .164, ""},
	}
}

// survey is the table of the survey's accelerators beside ours. A row without ours says why.
func survey(all []estimated) string {
	var b strings.Builder
	b.WriteString(task.Head("network", "LUTs", "FFs", "BRAM36", "DSPs", "ms at the board's clock"))
	for _, p := range peers() {
		name, cells := "ripc", []string{fmt.Sprint(p.luts), fmt.Sprint(p.ffs), fmt.Sprintf("%g", p.bram36),
			fmt.Sprint(p.dsp), task.Format(p.ms, "%g")}
		if i := slices.IndexFunc(all, func(e estimated) bool { return e.ask == p.ours }); i < 0 {
			name = "not ripc (" + cmp.Or(p.why, "not counted") + ")"
		} else {
			e := all[i]
			for k, ours := range []any{e.Used[fpga.LUTs], e.Used[fpga.FFs], fpga.BRAM36(e.Used[fpga.RAMKbits]),
				e.Used[fpga.DSPs], fmt.Sprintf("%.3g", e.ms)} {
				cells[k] = fmt.Sprint(ours, ", ", cells[k])
			}
		}
		b.WriteString(task.Row(append([]string{p.name + ": " + name + ", " + p.by}, cells...)...))
	}
	return b.String()
}
