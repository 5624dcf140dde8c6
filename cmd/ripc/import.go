package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"ripc"
)

func importCommand() *cobra.Command {
	var output string
	var json bool
	var f modelFlags
	cmd := &cobra.Command{
		Use:   "import F.onnx|F.pt2|F.tflite|F.json [flags]",
		Short: "Turn another program's model into ripc's own format",
		Long: `Turn a QONNX (.onnx), PyTorch (.pt2) or Larq (.tflite) model into ripc's own format: a
.json file that can be read and changed, and its weights in a .safetensors file beside it.
Quantizers and the layers between them have become bitserial layers in it where that is exact;
layers that stay float say why. It compiles to the same bytes as the original. With options
that say how a model is read, such as --end, the changed model is written, of a .json file too.
Needs no LLVM.`,
		Example: `  ripc import quicknet.tflite -o quicknet.json
  ripc import model.onnx --name words --end logits --batch 1 -o words.json
  ripc inspect quicknet.json`,
		Args: argCount(1, 1, "one F.onnx, F.pt2 or F.tflite"),
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd, args[0], output, json, &f) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&output, "output", "o", "", "the model's file, NAME.json (default the same place and name as F)")
	f.register(cmd)
	fs.BoolVar(&json, "json", false, "print one JSON object")
	return cmd
}

// sameFile reports whether two paths are one file.
func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}

func runImport(cmd *cobra.Command, path, out string, json bool, flags *modelFlags) error {
	ext := filepath.Ext(path)
	switch {
	case ripc.IsArtifact(path):
		return usagef("%s is compiled already; give a model", path)
	case strings.EqualFold(ext, ".json") && len(flags.givenFlags()) == 0:
		return usagef("%s is a model of ripc's own already; import reads those of other programs, or changes one as "+
			"options say", path)
	case strings.EqualFold(ext, ".json") && out == "":
		return usagef("--output: give another name than %s, which stays as it is", path)
	}
	if out == "" {
		out = strings.TrimSuffix(path, ext) + ".json"
	}
	if sameFile(path, out) {
		return usagef("--output %s: give another name than that of the model, which stays as it is", out)
	}
	prefix, ok := strings.CutSuffix(out, ".json")
	if !ok || filepath.Base(out) == ".json" {
		return usagef("--output %s: give a name that ends in .json", out)
	}
	var o ripc.Options
	if err := flags.fill(&o); err != nil {
		return err
	}
	undo, err := checkPlaces(prefix, []string{"json", "safetensors"})
	if err != nil {
		return err
	}
	defer undo()
	im, err := ripc.Import(cmd.Context(), path, out, o)
	if err != nil {
		return err
	}
	res := newCompileResult(im.Compiled)
	for _, f := range im.Files {
		info, err := os.Stat(f)
		if err != nil {
			return fmt.Errorf("cannot read the written file: %w", err)
		}
		kind := strings.TrimPrefix(filepath.Ext(f), ".")
		res.order = append(res.order, kind)
		res.Files[kind] = fileResult{f, int(info.Size())}
	}
	if json {
		return printJSON(cmd.OutOrStdout(), res)
	}
	res.print(cmd.OutOrStdout(), widthOf(cmd.OutOrStdout(), false), false)
	return nil
}
