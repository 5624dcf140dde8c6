//go:build linux

package webgpu

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"ripc/internal/container"
	"ripc/runtime/describe"
	"ripc/runtime/device"
)

// Open makes the bundle at path ready in a browser.
func Open(path string) (*device.Session, error) {
	return device.Open(path, container.Kernels+"wgsl", find)
}

// driver is a browser with a page that asks for orders. Its memory is one piece, which is made when
// it is first used.
type driver struct {
	cmd      *exec.Cmd
	alive    io.Closer // ends the browser
	profile  string
	server   *http.Server
	orders   chan []byte
	answers  chan answer
	gone     chan struct{} // closed when the browser has ended
	kernels  []byte
	names    []string
	size     int64
	open     bool
	launches []launch
}

// order is an order for the page. The data of a write, or the kernels, are behind it.
type order struct {
	Open     bool     `json:"open,omitempty"`
	Names    []string `json:"names,omitempty"`
	Size     int64    `json:"size,omitempty"`
	Launches []launch `json:"launches,omitempty"`
	At       int64    `json:"at"`
	Read     int      `json:"read,omitempty"`
}

type launch struct {
	Kernel string  `json:"kernel"`
	Blocks int     `json:"blocks"`
	Places []int64 `json:"places"`
}

type answer struct {
	data []byte
	took time.Duration
	err  error
}

//go:embed driver.html
var page string

// patience is the longest that an order may take. Compiling many kernels takes seconds.
const patience = 10 * time.Minute

// reserved keeps 0 from being a piece of memory.
const reserved = 64

// Name returns the name of the device that runs bundles.
func Name([]string) (string, error) {
	_, err := lookUp()
	return "SwiftShader in " + Browser, err
}

func lookUp() (string, error) {
	browser, err := exec.LookPath(Browser)
	if err != nil {
		err = fmt.Errorf("no %s (scripts/setup-browser.sh)", Browser)
	}
	return browser, err
}

func find([]string) (device.Driver, error) {
	browser, err := lookUp()
	if err != nil {
		return nil, err
	}
	d := &driver{orders: make(chan []byte), answers: make(chan answer), gone: make(chan struct{}), size: reserved}
	if d.profile, err = os.MkdirTemp("", "ripc-browser-"); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(d.profile))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.Replace(page, "SCRIPT", Script, 1))
	})
	first := true
	mux.HandleFunc("POST /order", func(w http.ResponseWriter, r *http.Request) {
		a := answerOf(r)
		if !first {
			d.answers <- a
		}
		first = false
		select {
		case order := <-d.orders:
			_, _ = w.Write(order)
		case <-r.Context().Done():
		}
	})
	d.server = &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go func() { _ = d.server.Serve(listener) }()
	d.cmd = exec.Command(browser, "--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--enable-unsafe-webgpu",
		"--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan,WebGPU", "--use-vulkan=swiftshader",
		"--disable-background-networking", "--no-first-run", "--remote-debugging-pipe", "--user-data-dir="+d.profile,
		"http://"+listener.Addr().String())
	if err := d.start(); err != nil {
		close(d.gone)
		return nil, errors.Join(err, d.Close())
	}
	go func() {
		_ = d.cmd.Wait()
		close(d.gone)
	}()
	return d, nil
}

// start starts the browser. It ends when alive is closed, and so when this process ends.
func (d *driver) start() error {
	commands, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	d.alive = alive
	defer commands.Close()
	replies, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer replies.Close()
	d.cmd.ExtraFiles = []*os.File{commands, replies}
	return d.cmd.Start()
}

func answerOf(r *http.Request) (a answer) {
	a.data, a.err = io.ReadAll(r.Body)
	if text := r.Header.Get("failed"); text != "" {
		message, _ := url.QueryUnescape(text)
		a.err = fmt.Errorf("WebGPU: %s", message)
	}
	ms, _ := strconv.ParseFloat(r.Header.Get("took"), 64)
	a.took = time.Duration(ms * float64(time.Millisecond))
	return a
}

// do has the page carry out o, with data.
func (d *driver) do(o order, data []byte) answer {
	head, err := json.Marshal(o)
	if err != nil {
		return answer{err: err}
	}
	late := time.After(patience)
	select {
	case d.orders <- bytes.Join([][]byte{head, data}, []byte("\n")):
	case <-d.gone:
		return answer{err: fmt.Errorf("%s has ended", Browser)}
	case <-late:
		return answer{err: fmt.Errorf("%s opens no page", Browser)}
	}
	select {
	case a := <-d.answers:
		return a
	case <-d.gone:
		return answer{err: fmt.Errorf("%s has ended", Browser)}
	case <-late:
		return answer{err: fmt.Errorf("%s has not answered for %v", Browser, patience)}
	}
}

func (d *driver) Build(kernels []byte, launches []describe.Launch) error {
	d.kernels = kernels
	seen := map[string]bool{}
	for _, l := range launches {
		if !seen[l.Kernel] {
			seen[l.Kernel], d.names = true, append(d.names, l.Kernel)
		}
	}
	return nil
}

func (d *driver) Allocate(bytes int) (device.Memory, error) {
	const align = 64
	at := d.size
	d.size += (int64(bytes) + align - 1) / align * align
	return device.Memory(at), nil
}

// ready opens the GPU, with all memory.
func (d *driver) ready() error {
	if d.open {
		return nil
	}
	d.open = true
	return d.do(order{Open: true, Names: d.names, Size: d.size}, d.kernels).err
}

func (d *driver) Write(m device.Memory, data []byte) error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.do(order{At: int64(m)}, data).err
}

func (d *driver) Read(m device.Memory, data []byte) error {
	a := d.do(order{At: int64(m), Read: len(data)}, nil)
	copy(data, a.data)
	return a.err
}

func (d *driver) Launch(l describe.Launch, args []device.Arg) error {
	var places []int64
	for _, a := range args {
		places = append(places, int64(a.Memory)+a.Offset)
	}
	d.launches = append(d.launches, launch{l.Kernel, l.Blocks, places})
	return nil
}

func (d *driver) Wait() (time.Duration, error) {
	if len(d.launches) == 0 {
		return 0, nil
	}
	err := d.ready()
	if err != nil {
		return 0, err
	}
	a := d.do(order{Launches: d.launches}, nil)
	d.launches = nil
	return a.took, a.err
}

func (d *driver) Close() error {
	if d.alive != nil {
		_ = d.alive.Close()
	}
	<-d.gone
	return errors.Join(d.server.Close(), os.RemoveAll(d.profile))
}
