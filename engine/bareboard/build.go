// Package bareboard makes programs of networks in C for boards without an operating system, and
// runs them on simulated boards (qemu's whole systems):
//
//	src := bareboard.Source{Name: "digits", Inputs: 1, Outputs: 1, Code: c, Header: h}
//	elf, err := bareboard.Build(ctx, src, board)
//	os.WriteFile("digits.elf", elf, 0o600)
//	m, err := bareboard.Open("digits.elf", bareboard.Options{})
//	job := bareboard.Job{Last: m.Stages(), Bring: &bareboard.Memory{...}, Keep: true}
//	results, err := m.Run(ctx, []bareboard.Job{job})
//
// The program is the network, unchanged, and the folder firmware: start-up code, linker scripts and
// a loop that reads jobs from a file of this machine and writes results to another, by semihosting.
// All memory is static. Developers of other chips can start from firmware (examples/mcu).
package bareboard

import (
	"bytes"
	"context"
	"debug/elf"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"ripc/internal/files"
	"ripc/internal/tools"
	"ripc/targets/boards"
)

//go:embed firmware
var firmware embed.FS

// Source is a network as `ripc compile --emit c,h` writes it.
type Source struct {
	Name            string // C identifier
	Inputs, Outputs int    // how many there are
	Code, Header    []byte
}

// Footprint is the memory, in bytes, of a program as it was linked, which holds one network and
// little else.
type Footprint struct {
	Board string `json:"board"` // the board's name, for people; engines set it
	// Flash holds code, constants and the first contents of variables.
	Flash      int64 `json:"flash_bytes"`
	FlashLimit int64 `json:"flash_limit_bytes"`
	// RAM holds inputs, outputs, workspace and variables. Stack comes on top: the bytes that are
	// reserved, or, in an engine, the depth of all runs so far.
	RAM      int64 `json:"ram_bytes"`
	Stack    int64 `json:"stack_bytes"`
	RAMLimit int64 `json:"ram_limit_bytes"`
}

// String formats the footprint for people.
func (f Footprint) String() string {
	return fmt.Sprintf("as linked: flash %d bytes of %d, RAM %d bytes of %d (%d of them stack), on %s", f.Flash,
		f.FlashLimit, f.RAM+f.Stack, f.RAMLimit, f.Stack, f.Board)
}

// network declares a network's memory, with room behind each buffer, and calls it under names that
// firmware knows.
const network = `/* network.c: static memory for {{.Name}}. */
#include "network.h"
#include "model/{{.Name}}.h"

{{range .Buffers}}static RIPC_ALIGNED unsigned char {{.Name}}[{{.Bytes}} + NETWORK_GUARD];
{{end}}
const struct network_buffer network_buffers[] = {
{{range .Buffers}}    {{"{"}}{{.Name}}, {{.Bytes}}{{"}"}},
{{end}}};
const uint32_t network_count = sizeof network_buffers / sizeof *network_buffers;

static const void *const in[] = { {{range .Buffers}}{{if eq .Kind "input"}}{{.Name}}, {{end}}{{end}} };
static void *const out[] = { {{range .Buffers}}{{if eq .Kind "output"}}{{.Name}}, {{end}}{{end}} };

int run_network(void) { return {{.Name}}_run(in, out, workspace, 0, 1, NULL); }

int run_network_stages(uint32_t first, uint32_t last)
{
    return {{.Name}}_run_stages(in, out, workspace, 0, 1, NULL, first, last);
}
`

// Build compiles and links a program for a board, an ELF file. It fails with *ToolError if there is
// no compiler, *SizeError if the board is too small, *BuildError, or ctx's error.
func Build(ctx context.Context, s Source, b boards.Board) ([]byte, error) {
	cc, err := findTool(b.Compiler, "to build programs for "+b.Target)
	if err != nil {
		return nil, err
	}
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, fmt.Errorf("bareboard: %w", err)
	}
	defer remove()
	sources, err := s.lay(dir)
	if err != nil {
		return nil, fmt.Errorf("bareboard: %w", err)
	}
	flags := append([]string{"-std=gnu99", "-O2", "-ffreestanding", "-nostdlib", "-ffp-contract=off",
		"-ffunction-sections",
		"-fdata-sections", "-DRIPC_NO_THREADS"}, b.Flags...)
	link := append(slices.Clone(flags), "-Wl,--gc-sections", "-T"+b.Script(), "-o", "program.elf")
	for _, source := range sources {
		object := source + ".o"
		if err := compile(ctx, dir, cc, append(slices.Clone(flags), "-c", source, "-o", object)); err != nil {
			return nil, err
		}
		link = append(link, object)
	}
	link = append(link, "-lgcc")
	program := filepath.Join(dir, "program.elf")
	if err := compile(ctx, dir, cc, link); err != nil {
		// Perhaps the board is too small. The linker can be told to go on, and then the file says
		// how large it would be.
		var failed *BuildError
		if errors.As(err, &failed) && compile(ctx, dir, cc, append(link, "-Wl,--noinhibit-exec")) == nil {
			if f, ferr := readFootprint(program); ferr == nil &&
				(f.Flash > f.FlashLimit || f.RAM+f.Stack > f.RAMLimit) {
				return nil, &SizeError{Name: s.Name, Board: b.Title, Footprint: f}
			}
		}
		return nil, err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("bareboard: %w", err)
	}
	return data, nil
}

// CompilerVersion is the name and version of the board's compiler, as it says them. It fails with
// *ToolError if there is none.
func CompilerVersion(ctx context.Context, b boards.Board) (string, error) {
	cc, err := findTool(b.Compiler, "to build programs for "+b.Target)
	if err != nil {
		return "", err
	}
	ctx, end := files.LimitTool(ctx, b.Compiler)
	defer end()
	out, err := exec.CommandContext(ctx, cc, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("bareboard: %s --version: %w", b.Compiler, err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(first), nil
}

// lay writes all source files to dir and lists those to compile. The network has a folder of its
// own, since it may be called anything.
func (s Source) lay(dir string) (sources []string, err error) {
	files := map[string][]byte{
		"network.c": s.network(), "model/" + s.Name + ".c": s.Code, "model/" + s.Name + ".h": s.Header,
	}
	entries, err := fs.ReadDir(firmware, "firmware")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if files[e.Name()], err = firmware.ReadFile("firmware/" + e.Name()); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "model"), 0o700); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) { // in one order, so that the program is the same each time
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o600); err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".c") {
			sources = append(sources, name)
		}
	}
	return sources, nil
}

// network writes network.c.
func (s Source) network() []byte {
	type buffer struct{ Kind, Name, Bytes string }
	var all []buffer
	upper := strings.ToUpper(s.Name)
	for i := range s.Inputs {
		all = append(all, buffer{"input", fmt.Sprintf("input%d", i), fmt.Sprintf("%s_INPUT_%d_BYTES", upper, i)})
	}
	for i := range s.Outputs {
		all = append(all, buffer{"output", fmt.Sprintf("output%d", i), fmt.Sprintf("%s_OUTPUT_%d_BYTES", upper, i)})
	}
	all = append(all, buffer{"workspace", "workspace", upper + "_WORKSPACE_BYTES(1)"})
	var b bytes.Buffer
	data := struct {
		Name    string
		Buffers []buffer
	}{s.Name, all}
	if err := template.Must(template.New("network").Parse(network)).Execute(&b, data); err != nil {
		panic("BUG: " + err.Error()) // the template is a constant, and data has its fields
	}
	return b.Bytes()
}

// compile runs the compiler in dir.
func compile(ctx context.Context, dir, cc string, args []string) error {
	ctx, end := files.LimitTool(ctx, filepath.Base(cc))
	defer end()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, cc, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &out, &out, 5*time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("bareboard: %s was stopped: %w", filepath.Base(cc), context.Cause(ctx))
		}
		return &BuildError{Command: append([]string{cc}, args...), Output: head(out.String()), Err: err}
	}
	return nil
}

// readSymbols returns the symbols of a program, which must have those of the given names.
func readSymbols(path string, names ...string) (map[string]elf.Symbol, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	all := map[string]elf.Symbol{}
	for _, s := range symbols {
		all[s.Name] = s
	}
	for _, name := range names {
		if _, ok := all[name]; !ok {
			return nil, fmt.Errorf("no symbol %s: not linked by firmware/sections.ld", name)
		}
	}
	return all, nil
}

// readMarks returns the arguments that make the simulator's plugin count from where jobs.c calls
// the network until control is back.
func readMarks(path string) ([]string, error) {
	const whole, stages, loop = "run_network", "run_network_stages", "main"
	symbols, err := readSymbols(path, whole, stages, loop)
	if err != nil {
		return nil, err
	}
	at := func(name string) uint64 { return symbols[name].Value &^ 1 } // bit 0 is the instruction set
	return []string{fmt.Sprintf("begin=%d", at(whole)), fmt.Sprintf("begin=%d", at(stages)),
		fmt.Sprintf("end=%d", at(loop)), fmt.Sprintf("until=%d", at(loop)+symbols[loop].Size)}, nil
}

// readFootprint reads the sizes that the linker script writes down as symbols.
func readFootprint(path string) (Footprint, error) {
	symbols, err := readSymbols(path, "flash_used", "flash_bytes", "ram_used", "ram_bytes", "stack_top", "stack_bottom")
	if err != nil {
		return Footprint{}, err
	}
	at := func(name string) int64 { return int64(symbols[name].Value) }
	return Footprint{Flash: at("flash_used"), FlashLimit: at("flash_bytes"), RAM: at("ram_used"),
		RAMLimit: at("ram_bytes"),
		Stack:    at("stack_top") - at("stack_bottom")}, nil
}

// findTool returns the path of a program. It fails with *ToolError.
func findTool(name, purpose string) (string, error) {
	return tools.Find(purpose, boards.Install, name)
}

// head is the beginning of a program's output.
func head(s string) string {
	const most = 4096
	return strings.TrimSpace(s[:min(len(s), most)])
}
