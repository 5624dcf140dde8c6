package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ripc"
	"ripc/internal/files"
	page "ripc/report"
)

func reportCommand() *cobra.Command {
	var f compileFlags
	var r ripc.ReportRequest
	var out, before string
	cmd := &cobra.Command{
		Use:   "report MODEL|X.so -o FILE.html [flags]",
		Short: "Write a page about a network's layers and their costs",
		Long: `Write one HTML page, which opens without a network and has no scripts: how each layer
is computed and why, its time (of a simulated board the estimated cycles) beside that of the
float network of the same layers, how close it comes to the machine's limits, the memory
over the stages, changes of the model that would help, and a picture of the network. For a board with an FPGA:
how full the part is, other sizes of the engines, and a picture of engines and streams. With --json the same
figures are printed as one JSON object; the page has them too.`,
		Example: `  ripc report examples/squeezenet/squeezenet.json -o report.html
  ripc report digits.json --target rpi3 -o digits_rpi3.html`,
		Args: argCount(1, 1, "one MODEL or X.so"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Path = args[0]
			if out == "" && !f.json {
				return usagef("-o FILE.html says where the page goes; --json prints its figures instead")
			}
			toStdout := out == "-"
			if ext := strings.ToLower(filepath.Ext(out)); !toStdout && ext != "" && ext != ".html" && ext != ".htm" {
				return usagef("--output %s: the page is HTML: give a name that ends in .html", out)
			}
			if toStdout && f.json {
				return usagef("--output -: --json prints to standard output itself")
			}
			if out != "" && !toStdout {
				undo, err := makePlaces(out, []string{out})
				if err != nil {
					return err
				}
				defer undo()
			}
			var err error
			if r.Options, err = f.options(r.Path); err != nil {
				return err
			}
			var old *ripc.ReportResult
			if before != "" {
				if old, err = page.Read(before); err != nil {
					return err
				}
			}
			r.Command = commandLine(cmd, args)
			p := newProgress()
			r.Progress = p.step
			var figures any // of --json
			var html bytes.Buffer
			if ripc.IsFPGA(f.target) {
				if before != "" || cmd.Flags().Changed("threads") {
					return usagef("--compare and --threads are for processors")
				}
				figures, err = f.reportAccelerator(cmd, r, &html)
			} else {
				figures, err = reportNetwork(cmd, r, before, old, &html)
			}
			p.done()
			if err != nil {
				return err
			}
			if out != "" {
				if toStdout {
					_, err := html.WriteTo(rawWriter(cmd.OutOrStdout()))
					return err
				}
				if err := files.Replace(out, html.Bytes(), 0o666); err != nil {
					return err
				}
			}
			if f.json {
				return printJSON(cmd.OutOrStdout(), figures)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "wrote "+out)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the page to write; - prints it")
	cmd.Flags().StringVar(&before, "compare", "",
		"an earlier page of the network, `OLD.html`, to show the changes since then")
	f.threadsFlag(cmd, &r.Threads)
	f.foldFlags(cmd)
	f.register(cmd)
	return cmd
}

// reportNetwork measures a network on a processor, and writes its page.
func reportNetwork(cmd *cobra.Command, r ripc.ReportRequest, before string, old *ripc.ReportResult,
	html io.Writer) (*ripc.ReportResult, error) {
	res, err := ripc.Report(cmd.Context(), r)
	if err != nil {
		return nil, err
	}
	if old != nil {
		if res.Against, err = ripc.CompareReports(before, old, res); err != nil {
			return nil, fmt.Errorf("--compare %s: %w", before, err)
		}
	}
	return res, page.Write(html, res)
}

// reportAccelerator measures an accelerator, and writes its page.
func (f *compileFlags) reportAccelerator(cmd *cobra.Command, r ripc.ReportRequest,
	html io.Writer) (*ripc.AcceleratorBench, error) {
	a, err := f.accelerator(cmd, r.Path, r.Options)
	if err != nil {
		return nil, err
	}
	r.Progress(0, 1, "synthesizing")
	b, err := a.Measure(cmd.Context())
	if err != nil {
		return nil, err
	}
	return b, page.WriteAccelerator(html, a, b, r.Command)
}

// commandLine writes a command with its arguments and given flags, as a shell reads it.
func commandLine(cmd *cobra.Command, args []string) string {
	words := []string{cmd.CommandPath()}
	for _, a := range args {
		words = append(words, shellWord(a))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			switch f.NoOptDefVal { // the value of the flag alone
			case "":
				words = append(words, "--"+f.Name, shellWord(v))
			case v:
				words = append(words, "--"+f.Name)
			default:
				words = append(words, "--"+f.Name+"="+shellWord(v))
			}
		}
	})
	return strings.Join(words, " ")
}

// shellWord quotes a word that a shell would change.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("_-./=+:,@%", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
