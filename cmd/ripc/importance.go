package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ripc/autotune/costmodel"
	"ripc/autotune/records"
	"ripc/autotune/search"
	"ripc/internal/files"
)

// maxModel bounds the file of a cost model, in bytes, packed and unpacked.
const maxModel = 256 << 20

func importanceCommand() *cobra.Command {
	var out string
	var top int
	cmd := &cobra.Command{
		Use:   "importance [MODEL] -o FILE.svg [flags]",
		Short: "Draw which features of kernels a cost model goes by",
		Long: `Draw which features of kernels a cost model goes by: a bar for each, as long as its share of
what the model explains. MODEL is a file of package costmodel, packed by gzip or not; without
it, it is the model that comes with ripc and that tuners begin with.`,
		Args: args(0, 1, "one MODEL or none"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case out == "":
				return usagef("-o FILE.svg says where the picture goes")
			case top < 1:
				return usagef("--top %d: give 1 or more", top)
			}
			m, err := search.Shipped()
			if len(args) > 0 {
				if m, err = readCostModel(args[0]); err != nil {
					return &usageError{msg: "cannot read " + args[0], err: files.Cause(err)}
				}
			}
			if err != nil {
				return err
			}
			var shares []records.Share
			for _, i := range m.Importance() {
				shares = append(shares, records.Share{Name: i.Feature, Gain: i.Gain})
			}
			title := fmt.Sprintf("what the cost model goes by: %d of %s", min(top, len(shares)), count(len(shares), "feature"))
			if err := files.Replace(out, records.DrawImportance(title, shares[:min(top, len(shares))]), 0o666); err != nil {
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

func readCostModel(path string) (*costmodel.Model, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := files.ReadUpTo(f, maxModel)
	if err != nil {
		return nil, err
	}
	if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
		if text, err = io.ReadAll(io.LimitReader(z, maxModel)); err != nil {
			return nil, err
		}
	}
	if s, err := records.Read(bytes.NewReader(text)); err == nil && len(s.Records) > 0 {
		return nil, errors.New("it has records, and a cost model is wanted")
	}
	return costmodel.Decode(text, search.ModelFeatures())
}
