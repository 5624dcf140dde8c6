package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"ripc"
	"ripc/internal/files"
	page "ripc/report"
)

// drawMemory writes the picture of in's memory.
func drawMemory(file string, in *ripc.Inspection) error {
	var svg bytes.Buffer
	if err := page.WriteArena(&svg, in); err != nil {
		return err
	}
	return files.Replace(file, svg.Bytes(), 0o666)
}

// mapWidth is the number of characters that stand for the arena in each stage's line.
const mapWidth = 48

// printMemory prints a line for each stage, with a map of the arena there, and one for each tensor in it.
func printMemory(w io.Writer, in *ripc.Inspection) error {
	m := in.Memory
	fmt.Fprintf(w, "%s for %s: activations %s", in.Name, in.Target, size(m.ArenaBytes))
	if len(m.Arena) > 0 {
		fmt.Fprintf(w, "; at least %s, which stage %d (%s) needs", size(m.LowerBound), m.Peak, m.Stages[m.Peak].Name)
	}
	fmt.Fprintf(w, "\n%s of scratch memory for each thread\n", size(m.ScratchBytes))
	switch {
	case m.FloatTwin == nil:
		fmt.Fprintf(w, "no float twin: %s\n", m.NoTwin)
	case m.ArenaBytes == 0:
		fmt.Fprintf(w, "float twin: activations %s\n", size(m.FloatTwin.ArenaBytes))
	default:
		fmt.Fprintf(w, "float twin: activations %s, %.1f times as much; scratch memory %s\n", size(m.FloatTwin.ArenaBytes),
			float64(m.FloatTwin.ArenaBytes)/float64(m.ArenaBytes), size(m.FloatTwin.ScratchBytes))
	}
	if len(m.Arena) == 0 {
		return nil
	}
	stages := &table{columns: []column{{title: "STAGE"}, {title: "LAYER", left: true, cut: cutHead}, {title: "NEEDS"}, {title: fmt.Sprintf("ARENA, %s A CHARACTER", size((m.ArenaBytes+mapWidth-1)/mapWidth)), left: true}}}
	for i, s := range m.Stages {
		stages.add(fmt.Sprint(i), s.Name, size(s.Bytes), "|"+arenaMap(m, i)+"|")
	}
	fmt.Fprintln(w)
	if err := stages.write(w, 0); err != nil {
		return err
	}
	tensors := &table{columns: []column{{title: "", left: true}, {title: "TENSOR", left: true, cut: cutHead}, {title: "BYTES"}, {title: "AT"}, {title: "STAGES", left: true}}}
	for i, t := range m.Arena {
		tensors.add(mark(i), t.Name, fmt.Sprint(t.Bytes), fmt.Sprint(t.Offset), fmt.Sprintf("%d to %d", t.First, t.Last))
	}
	fmt.Fprintln(w)
	return tensors.write(w, 0)
}

// mark is the letter of the i-th tensor on maps; after the last letter they begin anew.
func mark(i int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return letters[i%len(letters):][:1]
}

// arenaMap shows which tensors lie where during a stage: a tensor has each character that its place begins, ends or lies in, the one
// that begins last where there are several.
func arenaMap(m *ripc.Memory, stage int) string {
	line := []byte(strings.Repeat(".", mapWidth))
	for i, t := range m.Arena {
		if t.First > stage || t.Last < stage {
			continue
		}
		first := t.Offset * mapWidth / m.ArenaBytes
		last := (t.Offset + t.Bytes - 1) * mapWidth / m.ArenaBytes
		for k := first; k <= last; k++ {
			line[k] = mark(i)[0]
		}
	}
	return string(line)
}
