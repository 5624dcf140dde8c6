package gpu

import (
	"fmt"
	"slices"
	"strings"

	"ripc/lab/figures"
	"ripc/lab/task"
)

// page is the text of all figures.
func page(s *figures.Store) string {
	rates := task.Head("instruction", "a clock and multiprocessor", "10^12 operations/s")
	for _, i := range instructions() {
		if f := s.Find(figures.Key{Subject: i.name}); f != nil {
			rates += task.Row(i.name, fmt.Sprintf("%.2f", f.Values["max_per_clock"]),
				fmt.Sprintf("%.1f", f.Values["max_operations_per_s"]/1e12))
		}
	}
	value := func(subject, name string) float64 {
		if f := s.Find(figures.Key{Subject: subject}); f != nil {
			return f.Values[name]
		}
		return 0
	}
	bits := max(value("mma b1 xor", "max_operations_per_s"), value("mma b1 and", "max_operations_per_s"),
		value("popc", "max_operations_per_s"))
	nets := task.Head("network", "launches", "us", "images/s", "binary layers, share of the rate of bits",
		"a kernel for each tensor, us", "times its speed", "float twin, us", "times its speed",
		"PyTorch fp32, us", "times its speed", "fp16, us", "times its speed",
		"int8 products of binary layers, us", "times their speed")
	var reasons []string
	for _, f := range s.Latest() {
		i := slices.IndexFunc(networks(), func(n network) bool { return n.String() == f.Subject })
		if i < 0 {
			continue
		}
		v, cells := f.Values, []string{f.Key.String(), fmt.Sprint(f.Values["launches"])}
		ratio := func(a, b float64) string {
			if b == 0 {
				return "-"
			}
			return task.Format(a/b, "%.2f")
		}
		rate := bits
		if f.Target != "" { // the rates are of this machine's GPU
			rate = 0
		}
		us := func(name string) string { return task.Format(1e3*v[name], "%.1f") }
		cells = append(cells, us("min_ms"), ratio(1e3*float64(networks()[i].batch), v["min_ms"]),
			ratio(v["binary_macs"]/max(1e-9, v["binary_ms"])*1e3, rate))
		for _, name := range []string{"min_apart_ms", "min_float_ms", "min_fp32_ms", "min_fp16_ms"} {
			cells = append(cells, us(name), ratio(v[name], v["min_ms"]))
		}
		nets += task.Row(append(cells, us("min_int8_ms"), ratio(v["min_int8_ms"], v["binary_ms"]))...)
		if f.Why != "" && !slices.Contains(reasons, f.Why) {
			reasons = append(reasons, f.Why)
		}
	}
	text := fmt.Sprintf("%s\n\n%s\n\n%s\n", figures.Sources(s.Latest()), figures.Tools(s.Latest()), rates)
	text += fmt.Sprintf("Memory is read at %s GB/s. A kernel of a graph takes %s us at least.\n\n%s",
		task.Format(value(memory, "max_bytes_per_s")/1e9, "%.0f"),
		task.Format(value(launch, "min_launch_us"), "%.2f"), nets)
	if len(reasons) > 0 {
		text += "\n" + strings.Join(reasons, "\n\n") + "\n"
	}
	return text
}
