package verilog

import (
	"bytes"
	"embed"
	"fmt"
	"math/bits"
	"text/template"

	"ripc/dataflow"
)

//go:embed wrap
var wraps embed.FS

// wrapped fills a template of folder wrap for the design d with the top module top.
func wrapped(name string, d *dataflow.Design, top string, more map[string]any) ([]byte, error) {
	t, err := template.ParseFS(wraps, "wrap/"+name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	in, out := d.First, d.Last
	values := map[string]any{"Top": top, "InBits": in.Width(), "OutBits": out.Width(), "In": inBytes(in) * 8,
		"Out": inBytes(out) * 8, "Picture": inBytes(in) * in.Beats(), "Beats": out.Beats(),
		"Count": max(1, bits.Len(uint(out.Beats()-1))), "Cycles": d.Cycles}
	for k, v := range more {
		values[k] = v
	}
	var b bytes.Buffer
	err = t.Execute(&b, values)
	return b.Bytes(), err
}

// inBytes is the least number of bytes that hold a beat.
func inBytes(s *dataflow.Stream) int { return (s.Width() + 7) / 8 }

// Serial is a module around the streams of bytes of d, with a serial line: a byte is 10 bits of
// baud a second, of a clock of hz. It is called top and "_serial".
func Serial(d *dataflow.Design, top string, hz float64, baud int) ([]byte, error) {
	return wrapped("serial.v", d, top, map[string]any{"Hz": fmt.Sprintf("%.0f", hz), "Baud": baud,
		"Div": int(hz/float64(baud) + 0.5)})
}

// AXI is a module around d for a processor's bus. It is called top and "_axi".
func AXI(d *dataflow.Design, top string) ([]byte, error) { return wrapped("axi.v", d, top, nil) }
