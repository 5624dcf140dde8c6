package gpu

import (
	"fmt"

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
		"PyTorch fp32, us", "times its speed", "fp16, us", "times its speed", "int8 products of binary layers, us",
		"times their speed")
	for _, n := range networks() {
		f := s.Find(figures.Key{Subject: n.String()})
		if f == nil {
			continue
		}
		v := f.Values
		us := func(name string) string { return task.Format(1e3*v[name], "%.1f") }
		ratio := func(a, b float64) string {
			if b == 0 {
				return "-"
			}
			return task.Format(a/b, "%.2f")
		}
		nets += task.Row(f.Subject, fmt.Sprint(v["launches"]), us("min_ms"), ratio(1e3*float64(n.batch), v["min_ms"]),
			ratio(v["binary_macs"]/max(1e-9, v["binary_ms"])*1e3, bits), us("min_fp32_ms"),
			ratio(v["min_fp32_ms"], v["min_ms"]), us("min_fp16_ms"), ratio(v["min_fp16_ms"], v["min_ms"]),
			us("min_int8_ms"), ratio(v["min_int8_ms"], v["binary_ms"]))
	}
	text := fmt.Sprintf("%s\n\n%s\n\n%s\n", figures.Sources(s.Latest()), figures.Tools(s.Latest()), rates)
	text += fmt.Sprintf("Memory is read at %s GB/s. A kernel of a graph takes %s us at least.\n\n%s",
		task.Format(value(memory, "max_bytes_per_s")/1e9, "%.0f"),
		task.Format(value(launch, "min_launch_us"), "%.2f"), nets)
	for _, n := range networks() {
		if f := s.Find(figures.Key{Subject: n.String()}); f != nil && f.Why != "" {
			return text + "\n" + f.Why + "\n"
		}
	}
	return text
}
