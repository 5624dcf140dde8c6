package accelerator

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"strings"
	"text/template"

	"ripc/codegen"
	"ripc/compile"
	"ripc/graph"
	"ripc/ir"
)

//go:embed text
var templates embed.FS

// Header is a C header with the beats of the accelerator, and functions between the bytes of its
// streams and the tensors of the programs on the processor.
func (a *Accelerator) Header() ([]byte, error) { return a.fill("header.h") }

// Driver is the C source that runs the accelerator from a program under Linux, by file, and
// Vivado's commands for the hardware around it. There is none for parts without a processor.
func (a *Accelerator) Driver() (map[string][]byte, error) {
	files := map[string][]byte{}
	if a.Target.Part.Vivado == "" {
		return files, nil
	}
	for name, as := range map[string]string{"driver.h": a.Prefix() + "_driver.h", "driver.c": a.Prefix() + "_driver.c",
		"vivado.tcl": "vivado.tcl"} {
		text, err := a.fill(name)
		if err != nil {
			return nil, err
		}
		files[as] = text
	}
	return files, nil
}

// fill is a template with the facts of the accelerator.
func (a *Accelerator) fill(name string) ([]byte, error) {
	t, err := template.ParseFS(templates, "text/"+name)
	if err != nil {
		return nil, err
	}
	d, part := a.Design, a.Target.Part
	in := d.InType()
	v := map[string]any{
		"Name": a.Prefix(), "Upper": strings.ToUpper(a.Prefix()), "Board": a.Target.Board.Name, "Cycles": d.Cycles,
		"In": d.First, "Out": d.Last, "InBytes": (d.First.Width() + 7) / 8, "OutBytes": (d.Last.Width() + 7) / 8,
		"Flip": flip(in), "Top": in.Top(), "Inverted": in.Enc == ir.BipolarInv, "Device": part.Vivado, "MHz": a.Clock,
		"Ultra": part.Family == "xcup", "DMA": "0x40400000", "Core": "0x43c00000",
	}
	if part.Family == "xcup" {
		v["DMA"], v["Core"] = "0xa0000000", "0xa0010000"
	}
	if m := d.SumsLeave(); m != nil {
		v["Step"], v["Offsets"] = m.Sums([]int64{1})[0]-m.Sums([]int64{0})[0], m.K
	} else {
		v["Positions"] = d.Graph.Value(d.Out).Whole
		out := d.Graph.Value(d.Out).LevelType
		v["OutFlip"], v["OutTop"], v["OutInverted"] = flip(out), out.Top(), out.Enc == ir.BipolarInv
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Processor is the C source of the parts of the network before and behind the accelerator, and
// their headers, by file. There are none where the accelerator is all of it.
func (a *Accelerator) Processor(ctx context.Context) (map[string][]byte, error) {
	parts, files := a.Design.Host(), map[string][]byte{}
	for ending, g := range map[string]*graph.Graph{"_head": parts.Head, "_tail": parts.Tail} {
		if g == nil {
			continue
		}
		o := a.options
		o.Target, o.Backend, o.Emit = a.Target.Board.Processor, "c", []codegen.Kind{codegen.Source, codegen.Header}
		c, err := compile.FromFused(ctx, g, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.Name, err)
		}
		for _, k := range o.Emit {
			files[a.Prefix()+ending+"."+k.Ext()] = c.Files[k]
		}
	}
	return files, nil
}
