package core

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"strings"
)

//go:embed rtl
var rtl embed.FS

// SourceKey is a hash of the core's text.
func SourceKey() string { return fmt.Sprintf("%x", sha256.Sum256(source("core.v"))) }

// Parameters are those of the module core, as NAME=VALUE.
func (c Config) Parameters() []string {
	bytes := 0
	if c.Bytes {
		bytes = 1
	}
	var all []string
	for _, p := range []struct {
		name  string
		value int
	}{{"R", c.Rows}, {"L", c.Lanes}, {"AW", c.AccBits}, {"BYTES", bytes}, {"INP", c.Inputs}, {"WGT", c.Weights},
		{"TAB", c.Tables}, {"ACC", c.Sums}, {"QUEUE", queueDepth}} {
		all = append(all, fmt.Sprintf("%s=%d", p.name, p.value))
	}
	return all
}

// source is a file of the core's text.
func source(name string) []byte {
	data, err := rtl.ReadFile("rtl/" + name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return data
}

// Verilog is the core as files: its modules, with this design's sizes as their defaults.
func (c Config) Verilog() map[string][]byte {
	const head = "module core #(parameter "
	before, text, _ := strings.Cut(string(source("core.v")), head)
	_, behind, _ := strings.Cut(text, ")(")
	return map[string][]byte{"core.v": []byte(before + head + strings.Join(c.Parameters(), ", ") + ")(" + behind)}
}

// Simulation is the core beside a memory, module bench, with the program that runs it.
func Simulation() map[string][]byte {
	all := map[string][]byte{}
	for _, name := range []string{"core.v", "bench.v", "main.cpp"} {
		all[name] = source(name)
	}
	return all
}
