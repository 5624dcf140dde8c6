package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"ripc"
	"ripc/internal/files"
	"ripc/internal/human"
	"ripc/internal/svg"
	page "ripc/report"
)

// drawMemory writes a picture of in's memory.
func drawMemory(file string, in *ripc.Inspection) error {
	var picture bytes.Buffer
	if err := page.WriteArena(&picture, in); err != nil {
		return err
	}
	return writePicture(file, picture.Bytes())
}

// writePicture writes an SVG that a browser can draw.
func writePicture(file string, picture []byte) error {
	if err := svg.Finite(picture); err != nil {
		return err
	}
	return files.Replace(file, picture, 0o666)
}

// mapWidth returns the number of characters that show the arena in each stage's line, for lines of
// at most width characters.
func mapWidth(width int) int64 {
	const most, least, beside = 48, 16, 38 // beside: characters before the map
	if width == 0 {
		return most
	}
	return int64(min(max(width-beside, least), most))
}

// printMemory prints a line for each stage, with a map of the arena, and one for each tensor in it.
// Lines have at most width characters; 0 is no limit.
func printMemory(w io.Writer, in *ripc.Inspection, width int) {
	m := in.Memory
	line := func(format string, args ...any) { fmt.Fprintln(w, wrap(fmt.Sprintf(format, args...), width, 0)) }
	least := ""
	if len(m.Arena) > 0 {
		least = fmt.Sprintf("; activations need at least %s, which stage %d (%s) needs", human.Bytes(m.LowerBound),
			m.Peak, m.Stages[m.Peak].Name)
	}
	line("%s for %s: %s%s", in.Name, in.Target, m.Workspace, least)
	switch {
	case m.FloatTwin == nil:
		line("no float twin: %s", m.NoTwin)
	case m.ArenaBytes == 0:
		line("float twin: %s", m.FloatTwin.Workspace)
	default:
		line("float twin: %s; activations %.1f times as large", m.FloatTwin.Workspace,
			float64(m.FloatTwin.ArenaBytes)/float64(m.ArenaBytes))
	}
	if len(m.Arena) == 0 {
		return
	}
	room := mapWidth(width)
	each, title := fmt.Sprintf("ARENA, %s A CHARACTER", human.Bytes((m.ArenaBytes+room-1)/room)), "ARENA"
	if int64(len(each)) <= room+2 {
		title = each
	} else {
		line("a character of the arena is %s", human.Bytes((m.ArenaBytes+room-1)/room))
	}
	stages := &table{columns: []column{numCol("STAGE", 0), textCol("LAYER", 0).cutAs(cutMiddle, 10),
		numCol("NEEDS", 1), textCol(title, 0)}}
	for i, s := range m.Stages {
		stages.add(fmt.Sprint(i), s.Name, human.Bytes(s.Bytes), "|"+arenaMap(m, i, room)+"|")
	}
	fmt.Fprintln(w)
	stages.write(w, width)
	columns := []column{textCol("", 0), textCol("TENSOR", 0).cutAs(cutMiddle, 12), numCol("BYTES", 0),
		numCol("AT", 1), textCol("STAGES", 2)}
	if slices.ContainsFunc(m.Arena, func(t ripc.ArenaUse) bool { return t.Over != "" }) {
		columns = append(columns, textCol("IN PLACE OF", 3).cutAs(cutMiddle, 11))
	}
	tensors := &table{columns: columns}
	for i, t := range m.Arena {
		row := []string{letterOf(i), t.Name, fmt.Sprint(t.Bytes), fmt.Sprint(t.Offset),
			fmt.Sprintf("%d to %d", t.First, t.Last), t.Over}
		tensors.add(row[:len(columns)]...)
	}
	fmt.Fprintln(w)
	tensors.write(w, width)
}

// letterOf returns the letter of the i-th tensor on maps. Letters repeat after the last one.
func letterOf(i int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return letters[i%len(letters):][:1]
}

// arenaMap draws in room characters where tensors lie during a stage. A character that several
// tensors touch shows the last one.
func arenaMap(m *ripc.Memory, stage int, room int64) string {
	line := []byte(strings.Repeat(".", int(room)))
	for i, t := range m.Arena {
		if t.First > stage || t.Last < stage {
			continue
		}
		first := t.Offset * room / m.ArenaBytes
		last := (t.Offset + t.Bytes - 1) * room / m.ArenaBytes
		for k := first; k <= last; k++ {
			line[k] = letterOf(i)[0]
		}
	}
	return string(line)
}
