package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"ripc/autotune/records"
	"ripc/internal/human"
	"ripc/schedule/costmodel"
)

func importanceCommand() *cobra.Command {
	var out string
	var top int
	cmd := &cobra.Command{
		Use:   "importance FILE -o FILE.svg [flags]",
		Short: "Draw how much each knob matters for costs",
		Long: `Draw which knobs of schedules the costs in a FILE of records go by: a bar for each knob,
as long as its share in the costs that a model of the records explains. Kernels are compared
with those of the same workload, target and machine alone. It needs libxgboost.`,
		Example: `  ripc records importance ripc.records -o knobs.svg`,
		Args:    argCount(1, 1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case out == "":
				return usagef("-o FILE.svg says where the picture goes")
			case top < 1:
				return usagef("--top %d: give 1 or more", top)
			}
			if err := checkDistinct(out, args...); err != nil {
				return err
			}
			set, err := loadRecords(args)
			if err != nil {
				return err
			}
			m, err := learnKnobs(cmd.Context(), args[0], set)
			if err != nil {
				return err
			}
			var shares []records.Share
			for _, i := range m.Importance() {
				shares = append(shares, records.Share{Name: i.Feature, Gain: i.Gain})
			}
			title := fmt.Sprintf("the cost model's features: %d of %s", min(top, len(shares)),
				human.Count(len(shares), "feature"))
			if err := writePicture(out, records.DrawImportance(title, shares[:min(top, len(shares))])); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "wrote "+out)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write")
	cmd.Flags().IntVar(&top, "top", 30, "number of features")
	return cmd
}

// learnKnobs trains a cost model on the knobs of the schedules in a file's records.
func learnKnobs(ctx context.Context, path string, s *records.Set) (*costmodel.Model, error) {
	library, err := costmodel.Open("")
	if err != nil {
		return nil, err
	}
	names, samples := knobsOf(s)
	m, err := library.Train(ctx, samples, costmodel.Options{Names: names, Rounds: 60, Depth: 5, Rate: 0.2})
	if is[*costmodel.SamplesError](err) || err == nil && len(m.Importance()) == 0 {
		return nil, usagef("%s: its records do not tell which knobs matter: give more candidates of a kernel (ripc "+
			"tune)", path)
	}
	return m, err
}

// knobsOf returns samples for a cost model. Features are the strategies and all knobs in the
// records. A label is how slow a candidate is beside the best of its task on its kind of machine.
func knobsOf(s *records.Set) (names []string, samples []costmodel.Sample) {
	columns := map[string]int{}
	values := func(c records.Candidate) map[string]int {
		all := map[string]int{"strategy " + c.Strategy: 1}
		maps.Copy(all, c.Values)
		return all
	}
	for _, r := range s.Records {
		for name := range values(r.Candidate) {
			columns[name] = 0
		}
	}
	names = slices.Sorted(maps.Keys(columns))
	for i, name := range names {
		columns[name] = i
	}
	for _, t := range s.Tasks() {
		for _, class := range s.Classes(t) {
			ranked := s.Ranked(t, class)
			for _, r := range ranked {
				row := make([]float32, len(names))
				for k := range row {
					row[k] = float32(math.NaN()) // a knob that the strategy does not have
				}
				for name, v := range values(r.Candidate) {
					row[columns[name]] = float32(v)
				}
				samples = append(samples, costmodel.Sample{Features: row,
					Label: float32(math.Log(r.Result.Cost / ranked[0].Result.Cost))})
			}
		}
	}
	return names, samples
}
