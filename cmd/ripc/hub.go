package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ripc/autotune/hub"
	"ripc/autotune/runner"
	"ripc/internal/files"
	"ripc/internal/human"
	"ripc/targets"
)

// Defaults of a hub's folder and address.
const (
	defaultHubDir    = "ripc-hub"
	defaultHubListen = "127.0.0.1:4222"
	defaultHubURL    = "nats://" + defaultHubListen
)

func hubCommand() *cobra.Command {
	var o hub.Options
	cmd := &cobra.Command{
		Use:   "hub [flags]",
		Short: "Serve a fleet of workers that measure for ripc tune",
		Long: `Run a hub until it is stopped: workers (ripc worker nats://HOST) pull jobs from it, and
tuners (ripc tune --runner nats://HOST) have them measured there. It is a NATS server with
JetStream; its state is in --dir and is there when it is started again.

Who may ask for measurements runs code on the workers. So a hub without keys serves this
machine alone. Make keys first, one for each worker and each tuner: they are files that hold
a secret and the hub's certificate, and all that passes is encrypted then. A worker's key
lets it pull jobs and answer, no more. docs/fleet.md says more.`,
		Example: `  ripc hub keys worker pi3 -o pi3.key
  ripc hub keys tuner me -o me.key
  ripc hub --listen 0.0.0.0:4222
  ripc hub status --key me.key`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Log = func(text string) { fmt.Fprintln(stderr(), printableText(text)) }
			h, err := hub.Start(cmd.Context(), o)
			if err != nil {
				return err
			}
			fmt.Fprintf(stderr(), "listening on %s; Ctrl-C ends it\n", h.URL())
			select {
			case <-cmd.Context().Done():
			case <-h.Done():
				return errors.Join(errors.New("the server ended by itself"), h.Close())
			}
			return h.Close()
		},
	}
	hubDirFlag(cmd, &o.Dir)
	cmd.Flags().StringVar(&o.Listen, "listen", defaultHubListen, "`HOST:PORT` to listen on")
	cmd.AddCommand(hubKeysCommand(), hubStatusCommand())
	return cmd
}

func hubDirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", defaultHubDir, "`FOLDER` of the hub's files")
}

func hubKeysCommand() *cobra.Command {
	var dir, out string
	cmd := &cobra.Command{
		Use:   "keys [worker|tuner NAME -o FILE]",
		Short: "Make a key for a worker or a tuner, or list those there are",
		Long: `Make a key. FILE is a secret: take it to the machine that uses it (--key FILE) and nowhere
else. Without arguments, list the hub's keys. They stand in the file "keys" in the hub's
folder, one a line; who takes a line out locks the key's holder out. A running hub knows new
keys at once, unless it was started without any.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 0 && (len(args) != 2 || args[0] != string(hub.Worker) && args[0] != string(hub.Tuner)) {
				return &usageError{msg: "wants worker NAME, tuner NAME, or nothing"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				keys, err := hub.Keys(dir)
				if err != nil {
					return err
				}
				t := table{columns: []column{textCol("ROLE", 0), textCol("NAME", 0), textCol("KEY", 0)}}
				for _, k := range keys {
					t.add(string(k.Role), printableText(k.Name), k.Public)
				}
				t.write(cmd.OutOrStdout(), 0)
				return nil
			}
			if out == "" {
				return usagef("-o FILE says where the key goes")
			}
			if _, err := hub.NewKey(dir, hub.Role(args[0]), args[1], out); err != nil {
				return &files.WriteError{Path: out, Err: err}
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "wrote the key of %s %s to %s\n", args[0], args[1], out)
			return err
		},
	}
	hubDirFlag(cmd, &dir)
	cmd.Flags().StringVarP(&out, "output", "o", "", "`FILE` to write, which must not be there")
	return cmd
}

// memberRow is a worker in `ripc hub status`.
type memberRow struct {
	Worker    string   `json:"worker"`
	Host      string   `json:"host"`
	State     string   `json:"state"` // "idle", "busy", "resting" or "gone"
	Why       string   `json:"why,omitempty"`
	CPU       string   `json:"cpu"`
	Arch      string   `json:"arch"`
	Simulates string   `json:"simulates,omitempty"`
	Features  []string `json:"features"`
	Targets   []string `json:"targets"`
	Measured  int      `json:"measured"`
	Faults    int      `json:"faults"`
	Seen      string   `json:"seen"`
	Version   string   `json:"version"`
}

func newMemberRow(m runner.Member) memberRow {
	r := memberRow{Worker: m.ID, Host: m.Host, State: "idle", Why: m.Resting, CPU: m.CPU,
		Arch: m.Arch, Simulates: m.Simulates, Features: m.Features, Targets: []string{},
		Measured: m.Measured, Faults: m.Faults, Seen: m.Seen.UTC().Format(time.RFC3339), Version: m.Version}
	switch {
	case !m.Alive:
		r.State = "gone"
	case m.Resting != "":
		r.State = "resting"
	case m.Job != "":
		r.State = "busy"
	}
	for _, t := range targets.All() {
		if t.Name != targets.HostName && m.Measures(t) {
			r.Targets = append(r.Targets, t.Name)
		}
	}
	return r
}

func hubStatusCommand() *cobra.Command {
	f := runner.Fleet{}
	var asJSON, wide bool
	cmd := &cobra.Command{
		Use:   "status [URL] [flags]",
		Short: "Show a hub's workers and jobs",
		Args:  argCount(0, 1, "one URL or none"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.URL = defaultHubURL
			if len(args) > 0 {
				f.URL = args[0]
			}
			s, err := f.Status(cmd.Context())
			if err != nil {
				return err
			}
			rows := []memberRow{}
			for _, m := range s.Members {
				rows = append(rows, newMemberRow(m))
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"workers": rows, "queued": s.Queued,
					"running": s.Running, "results": s.Results, "bytes": s.Bytes})
			}
			printStatus(cmd.OutOrStdout(), rows, s, widthOf(cmd.OutOrStdout(), wide))
			return nil
		},
	}
	cmd.Flags().StringVar(&f.Key, "key", "", "`FILE` of a tuner's key")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	wideFlag(cmd, &wide)
	return cmd
}

func printStatus(w io.Writer, rows []memberRow, s runner.FleetStatus, width int) {
	t := table{columns: []column{textCol("WORKER", 0), textCol("STATE", 0), textCol("CPU", 0), textCol("TARGETS", 1),
		numCol("MEASURED", 0), numCol("FAULTS", 2), textCol("SEEN", 3)}}
	for _, r := range rows {
		cpu := r.CPU
		if r.Simulates != "" {
			cpu = "simulated"
		}
		t.add(printableText(r.Host), r.State, printableText(cpu), strings.Join(r.Targets, " "), fmt.Sprint(r.Measured),
			fmt.Sprint(r.Faults), r.Seen)
	}
	t.write(w, width)
	fmt.Fprintf(w, "\n%s queued, %d under way, %s kept, %s on disk\n", human.Count(int(s.Queued), "job"), s.Running,
		human.Count(int(s.Results), "result"), human.Bytes(int64(s.Bytes)))
}
