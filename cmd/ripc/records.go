package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ripc/autotune/records"
	"ripc/autotune/shipped"
	"ripc/internal/files"
	"ripc/internal/human"
)

func recordsCommand() *cobra.Command {
	var asJSON, wide bool
	cmd := &cobra.Command{
		Use:   "records FILE... [flags]",
		Short: "List, merge and prune the records of ripc tune",
		Long: `List the contents of files of records (ripc tune writes them): for each workload, target and
machine the number of candidates tried, the cost of the best of them, that of the default
schedule, and how many times cheaper the best is. "shipped" stands for the records that
come with ripc. The commands below merge files, prune them, and draw how the best cost fell.`,
		Example: `  ripc records ripc.records
  ripc records prune ripc.records --keep 3
  ripc records curve ripc.records -o curve.svg`,
		Args: argCount(1, -1, "one FILE or more"),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := loadRecords(args)
			if err != nil {
				return err
			}
			rows := []recordsRow{}
			for _, s := range set.Summaries() {
				rows = append(rows, newRecordsRow(s))
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"tasks": rows})
			}
			printRecords(cmd.OutOrStdout(), rows, widthOf(cmd.OutOrStdout(), wide))
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	wideFlag(cmd, &wide)
	cmd.AddCommand(mergeCommand(), pruneCommand(), curveCommand(), importanceCommand())
	return cmd
}

// recordsRow is a line of `ripc records`.
type recordsRow struct {
	Op        string  `json:"op"`
	Shape     string  `json:"shape"`
	Key       string  `json:"key"`
	Target    string  `json:"target"`
	CPU       string  `json:"cpu"`
	Simulated bool    `json:"simulated"`
	Cold      bool    `json:"cold,omitempty"` // caches
	Unit      string  `json:"unit,omitempty"`
	Trials    int     `json:"trials"`
	Failed    int     `json:"failed"`
	Algorithm string  `json:"algorithm,omitempty"` // of the best
	Strategy  string  `json:"strategy,omitempty"`  // of the best
	Best      float64 `json:"best,omitempty"`      // in Unit
	Default   float64 `json:"default,omitempty"`   // in Unit
	Gain      float64 `json:"gain,omitempty"`
	machine   string
}

func newRecordsRow(s records.Summary) recordsRow {
	r := recordsRow{Op: s.Workload.Op, Shape: s.Workload.Shape, Key: s.Workload.Key, Target: s.Target,
		CPU: s.Class.CPU, Simulated: s.Class.Simulated, Cold: s.Class.Cold, machine: s.Class.Text(),
		Unit: string(s.Class.Unit), Trials: s.Trials, Failed: s.Failed, Gain: s.Gain()}
	if s.Best != nil {
		r.Algorithm, r.Strategy, r.Best = s.Best.Candidate.Algorithm, s.Best.Candidate.Strategy, s.Best.Result.Cost
	}
	if s.Default != nil {
		r.Default = s.Default.Result.Cost
	}
	return r
}

func printRecords(w io.Writer, rows []recordsRow, width int) {
	if len(rows) == 0 {
		fmt.Fprintln(w, "no records")
		return
	}
	t := table{columns: []column{textCol("WORKLOAD", 0), textCol("KEY", 1), textCol("TARGET", 0),
		textCol("ALGORITHM", 3), numCol("TRIALS", 0), numCol("FAILED", 2), numCol("BEST", 0), numCol("DEFAULT", 0),
		numCol("GAIN", 0), textCol("MACHINE", 4)}}
	for _, r := range rows {
		cost := func(c float64) string {
			if c == 0 {
				return "-"
			}
			return records.Unit(r.Unit).Text(c)
		}
		gain := "-"
		if r.Gain > 0 {
			gain = fmt.Sprintf("%.2fx", r.Gain)
		}
		t.add(printableText(r.Op+" "+r.Shape), printableText(r.Key[:min(len(r.Key), 12)]), printableText(r.Target),
			printableText(cmp.Or(r.Algorithm, "-")), fmt.Sprint(r.Trials), fmt.Sprint(r.Failed),
			cost(r.Best), cost(r.Default), gain, printableText(r.machine))
	}
	t.write(w, width)
}

// loadRecords reads several files and reports damaged records on standard error.
func loadRecords(paths []string) (*records.Set, error) {
	var sets []*records.Set
	for _, path := range paths {
		s, err := shipped.Load(path)
		if err != nil {
			return nil, cannotReadRecords(path, err)
		}
		noteRecords(stderr(), path, s)
		sets = append(sets, s)
	}
	return records.Merge(sets...)
}

func cannotReadRecords(path string, err error) error {
	return &usageError{msg: "cannot read " + path, err: files.Cause(err)}
}

// cannotWriteRecords adds the path to an error that says that the file holds no records.
func cannotWriteRecords(path string, err error) error {
	if no, ok := errors.AsType[*records.NotRecordsError](err); ok {
		return fmt.Errorf("%s: %w", path, no)
	}
	return err
}

// checkDistinct fails if out names one of the files that are read.
func checkDistinct(out string, read ...string) error {
	for _, path := range read {
		if sameFile(path, out) {
			return usagef("-o %s is one of the files that are read", out)
		}
	}
	return nil
}

// namedLines is the number of damaged lines that are named.
const namedLines = 3

// noteRecords reports the records of a file that this version cannot read.
func noteRecords(w io.Writer, path string, s *records.Set) {
	if n := len(s.Foreign); n > 0 {
		fmt.Fprintf(w, "ripc: %s: %s of other versions (%s) ignored\n", path, human.Count(n, "record"),
			printableText(s.Foreign[0].Format))
	}
	for i, d := range s.Damaged {
		switch {
		case d.Torn:
			fmt.Fprintf(w, "ripc: %s: the last line is torn; a tuner was killed, or is writing it\n", path)
		case i < namedLines:
			fmt.Fprintf(w, "ripc: %s: line %d is damaged and ignored: %s\n", path, d.Line, printableText(d.Err.Error()))
		case i == namedLines:
			fmt.Fprintf(w, "ripc: %s: %s in all are damaged\n", path, human.Count(len(s.Damaged), "line"))
		}
	}
}

func mergeCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge FILE... -o FILE",
		Short: "Write all records of several files into one, none twice",
		Args:  argCount(1, -1, "one FILE or more"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("-o FILE says where the records go")
			}
			set, err := loadRecords(args)
			if err != nil {
				return err
			}
			if err := records.WriteFile(out, set); err != nil {
				return cannotWriteRecords(out, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s to %s\n", human.Count(len(set.Records), "record"), out)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write, which may be one of those read")
	return cmd
}

func pruneCommand() *cobra.Command {
	var out string
	var keep int
	var versions []string
	cmd := &cobra.Command{
		Use:   "prune FILE [flags]",
		Short: "Keep the best candidates alone",
		Long: `Keep of each workload, target and machine the best candidates and the default schedule.
Records of failures and damaged ones go. The file is replaced as a whole; a tuner that has it
open goes on with the new one. A file with lines that are no records is left as it is.`,
		Args: argCount(1, 1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if keep < 1 {
				return usagef("--keep %d: give 1 or more", keep)
			}
			was, is := 0, 0
			prune := func(s *records.Set) (*records.Set, error) {
				noteRecords(stderr(), args[0], s)
				pruned := s.Prune(keep, versions...)
				was, is = len(s.Records), len(pruned.Records)
				return pruned, nil
			}
			var err error
			if out == "" || out == args[0] {
				out = args[0]
				err = records.Rewrite(out, prune)
			} else {
				var set, pruned *records.Set
				if set, err = shipped.Load(args[0]); err == nil {
					pruned, err = prune(set)
				}
				if err == nil {
					err = records.WriteFile(out, pruned)
				}
			}
			if errors.Is(err, os.ErrNotExist) {
				return cannotReadRecords(args[0], err)
			}
			if err != nil {
				return cannotWriteRecords(out, err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "kept %d of %s in %s\n", is, human.Count(was, "record"), out)
			return err
		},
	}
	cmd.Flags().IntVar(&keep, "keep", 1, "candidates of each workload, target and machine")
	cmd.Flags().StringArrayVar(&versions, "only", nil, "`VERSION` of ripc: its records are kept; may be repeated "+
		"(default all)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write (default the one read)")
	return cmd
}

func curveCommand() *cobra.Command {
	var out string
	var workloads []string
	cmd := &cobra.Command{
		Use:   "curve FILE... -o FILE.svg [flags]",
		Short: "Draw how the best cost fell over the trials",
		Long: `Draw one picture for each workload, target and machine: the best cost so far over the
trials, a line for each tuner and seed, and the cost of the default schedule.`,
		Args: argCount(1, -1, "one FILE or more"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("-o FILE.svg says where the picture goes")
			}
			if err := checkDistinct(out, args...); err != nil {
				return err
			}
			set, err := loadRecords(args)
			if err != nil {
				return err
			}
			picture, ok := set.DrawCurves(workloads...)
			if !ok {
				return usagef("no workload of these files has a cost and a key like that")
			}
			if err := writePicture(out, picture); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "wrote "+out)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write")
	cmd.Flags().StringArrayVar(&workloads, "workload", nil, "beginning of the `KEY` of a workload to draw; may be "+
		"repeated (default all)")
	return cmd
}
