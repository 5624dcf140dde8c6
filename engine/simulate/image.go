package simulate

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"ripc/internal/abi"
	"ripc/runtime"
)

// Layout of an image: offsets in bytes, all words 64 bits, little endian. targets/guests/runners
// has the same layout. A job's in and out point to arrays of pointers of the guest's size.
//
//	header:   0 magic   8 address   16 size   24 entry   32 jobs: count, address;
//	          48 protections: count, address   64 stacks: address, size of one
//	          80 number of the running job (written)   88 more?
//	          With more, the runner ends by writing 8 bytes to standard output. It reads the
//	          number of its next job from standard input, to 96; the input's end is the end.
//	job:      0 in   8 out   16 workspace   24 sync   32 threads   40 first   48 last
//	          56 threads done + value << 32 (written)   64 captures: count, address;
//	          80 counted? 1 : 0   88 timing, or 0 for one call
//	timing:   0 samples   8 calls in each
//	          16 time limit in nanoseconds; one sample is always taken
//	          24 memory to touch before each sample: address, bytes   40 samples taken;
//	          48 nanoseconds of a chain of chainSteps operations behind them   56 stop
//	          64 arrivals of threads   72 least nanoseconds of reading the clock;
//	          (the last five are written)   128 nanoseconds of each sample;
//	capture:  0 to   8 from   16 bytes, a multiple of 64 (both ends have room for it);
//	protection: 0 address   8 bytes   16 prot
const (
	magic      = "RIPCIMG1"
	jobSize    = 128
	progressAt = 80
	statusAt   = 56
	moreAt     = 88
	samplesAt  = 128
	chainSteps = 1 << 15
	stackSize  = 256 << 10
	guardByte  = 0xA5
	guardSize  = 64
)

// place is where a buffer lies in an image: offset and true size.
type place struct {
	offset, size int64
	what         string // for messages; "" if it has no guard behind it
}

// jobPlaces is where a job's memory lies.
type jobPlaces struct {
	desc    int64
	work    place
	live    []place // the outputs while it runs
	outputs []place // and as it left them; none for Job.Discard
	inputs  []place // while it runs
	kept    []place // the inputs and the workspace as it left them; none without Job.Keep
	timing  int64   // offset; 0 if it is not timed
}

// image is the plan of an image file and the pieces that are not zero.
type image struct {
	m       *Machine
	base    uint64
	size    int64
	pieces  []piece
	guarded []place
	jobs    []jobPlaces
	stacks  int64
	threads int
	clock   uint64 // least nanoseconds of reading the clock
}

// piece is data at an offset of the file.
type piece struct {
	offset int64
	data   []byte
}

// take reserves n bytes at a multiple of align.
func (im *image) take(n, align int64) int64 {
	im.size = (im.size + align - 1) &^ (align - 1)
	at := im.size
	im.size += n
	return at
}

// buffer reserves n bytes, aligned and padded to abi.Align, with a guard behind.
func (im *image) buffer(n int64, what string) place {
	round := abi.RoundUp(max(n, 1))
	at := im.take(round+guardSize, abi.Align)
	guard := make([]byte, guardSize)
	for i := range guard {
		guard[i] = guardByte
	}
	im.pieces = append(im.pieces, piece{at + round, guard})
	p := place{at, n, what}
	im.guarded = append(im.guarded, p)
	return p
}

// words stores 64-bit words at an offset.
func (im *image) words(at int64, v ...uint64) {
	data := make([]byte, 0, 8*len(v))
	for _, w := range v {
		data = binary.LittleEndian.AppendUint64(data, w)
	}
	im.pieces = append(im.pieces, piece{at, data})
}

// pointers reserves and stores an array of the guest's pointers, and returns its offset.
func (im *image) pointers(v []uint64) int64 {
	at := im.take(int64(im.m.guest.Pointer*len(v)), 64)
	if im.m.guest.Pointer == 8 {
		im.words(at, v...)
		return at
	}
	var data []byte
	for _, w := range v {
		data = binary.LittleEndian.AppendUint32(data, uint32(w))
	}
	im.pieces = append(im.pieces, piece{at, data})
	return at
}

// addr turns an offset into the guest's address.
func (im *image) addr(at int64) uint64 { return im.base + uint64(at) }

// plan lays out a checked batch.
func (m *Machine) plan(jobs []Job) (*image, error) {
	im := &image{m: m, base: m.guest.Base, clock: math.MaxInt32, size: programAt + int64(m.prog.size)}
	var prot []uint64
	for _, s := range m.prog.segments {
		start := int64(programAt) + int64(s.offset)
		im.pieces = append(im.pieces, piece{start, s.data})
		page := int64(m.guest.Page)
		first := start &^ (page - 1)
		prot = append(prot, im.addr(first), uint64((start+int64(s.size)+page-1)&^(page-1)-first), s.prot)
	}
	for _, j := range jobs {
		im.threads = max(im.threads, j.Threads)
	}
	im.take(pageSize, pageSize) // a gap under the stacks
	im.stacks = im.take(int64(im.threads)*stackSize, pageSize)
	protAt := im.take(int64(8*len(prot)), 64)
	im.words(protAt, prot...)
	jobsAt := im.take(int64(jobSize*len(jobs)), 64)
	im.words(0, binary.LittleEndian.Uint64([]byte(magic)), im.base, 0, m.entry, uint64(len(jobs)), im.addr(jobsAt),
		uint64(len(prot)/3), im.addr(protAt), im.addr(im.stacks), stackSize)
	shared := place{offset: -1}
	stored := map[*byte]place{}
	var in, out int64
	for k, j := range jobs {
		var p jobPlaces
		if j.Continue {
			p = im.jobs[k-1]
			p.kept, p.outputs, p.timing = nil, p.live, 0
		} else {
			in, out = im.tensors(k, j, &p, stored)
			switch {
			case j.Workspace != nil:
				p.work = im.buffer(m.desc.WorkspaceBytes(im.threads), fmt.Sprintf("the workspace of job %d", k))
				im.pieces = append(im.pieces, piece{p.work.offset, j.Workspace})
			default:
				if shared.offset < 0 {
					shared = im.buffer(m.desc.WorkspaceBytes(im.threads), "the workspace")
				}
				p.work = shared
			}
		}
		p.desc = jobsAt + int64(k)*jobSize
		sync := uint64(0)
		if j.Threads > 1 {
			sync = im.addr(im.take(2*abi.SyncBytes, abi.Align))
		}
		goesOn := k+1 < len(jobs) && jobs[k+1].Continue && !j.Discard
		copies, copiesAt := im.captures(j, &p, goesOn)
		if j.Discard {
			p.outputs = nil
		}
		counted := uint64(0)
		if m.opts.Count {
			counted = 1
		}
		timing := uint64(0)
		if p.timing = im.placeTiming(j); p.timing > 0 {
			timing = im.addr(p.timing)
		}
		im.words(p.desc, im.addr(in), im.addr(out), im.addr(p.work.offset), sync, uint64(j.Threads),
			uint64(j.First), uint64(j.Last),
			0, copies, im.addr(copiesAt), counted, timing)
		im.jobs = append(im.jobs, p)
	}
	im.take(0, int64(m.guest.Page))
	im.words(16, uint64(im.size))
	limit := m.guest.Limit
	if m.opts.Direct {
		limit = m.guest.Direct
	}
	if limit = cmp.Or(limit, maxImage); im.size > limit {
		return nil, fmt.Errorf("%s: %d jobs need an image of %d bytes, at most %d are possible; run fewer at once",
			m.path, len(jobs), im.size, limit)
	}
	return im, nil
}

// placeTiming places the timing of a job; 0 if it is not timed.
func (im *image) placeTiming(j Job) int64 {
	room := j.samples
	if j.Time {
		room = 1
	}
	if room == 0 {
		return 0
	}
	cold := im.take(j.cold, pageSize)
	at := im.take(samplesAt+int64(8*room), 64)
	im.pieces = append(im.pieces, piece{at, timingStart(Timing{Samples: 1, Calls: 1})})
	im.words(at+24, im.addr(cold), uint64(j.cold))
	if j.samples > 0 {
		im.words(moreAt, 1)
	}
	return at
}

// tensors places a job's inputs and outputs, and the arrays of pointers to them. It returns the
// arrays' offsets.
func (im *image) tensors(k int, j Job, p *jobPlaces, stored map[*byte]place) (in, out int64) {
	var ins, outs []uint64
	for i, data := range j.Inputs {
		var key *byte
		if len(data) > 0 {
			key = &data[0]
		}
		at, ok := stored[key]
		if !ok || key == nil || at.size != int64(len(data)) {
			at = im.buffer(int64(len(data)), fmt.Sprintf("input %d of job %d", i, k))
			im.pieces = append(im.pieces, piece{at.offset, data})
			stored[key] = at
		}
		p.inputs = append(p.inputs, at)
		ins = append(ins, im.addr(at.offset))
	}
	for i, t := range im.m.desc.Outputs {
		n, _ := runtime.TensorBytes(t) // ReadDescription has checked it
		at := im.buffer(int64(n), fmt.Sprintf("output %d of job %d", i, k))
		if j.Outputs != nil {
			im.pieces = append(im.pieces, piece{at.offset, j.Outputs[i]})
		}
		p.live = append(p.live, at)
		outs = append(outs, im.addr(at.offset))
	}
	p.outputs = p.live
	return im.pointers(ins), im.pointers(outs)
}

// captures places the list of copies, and memory for them: of all memory for Job.Keep, and of the
// outputs if the next job continues with them. It returns the list's length and offset.
func (im *image) captures(j Job, p *jobPlaces, goesOn bool) (uint64, int64) {
	var list []uint64
	capture := func(buffers []place) []place {
		var copies []place
		for _, b := range buffers {
			room := abi.RoundUp(b.size)
			to := im.take(room, abi.Align)
			list = append(list, im.addr(to), im.addr(b.offset), uint64(room))
			copies = append(copies, place{offset: to, size: b.size})
		}
		return copies
	}
	if j.Keep {
		p.kept = capture(append(p.inputs[:len(p.inputs):len(p.inputs)],
			place{offset: p.work.offset, size: im.m.desc.WorkspaceBytes(j.Threads)}))
	}
	if goesOn {
		p.outputs = capture(p.live)
	}
	at := im.take(int64(8*len(list)), 64)
	im.words(at, list...)
	return uint64(len(list) / 3), at
}

// write writes the image file; gaps between pieces are holes.
func (im *image) write(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("simulate: cannot make an image: %w", err)
	}
	err = f.Truncate(im.size)
	for _, p := range im.pieces {
		if len(p.data) > 0 && err == nil {
			_, err = f.WriteAt(p.data, p.offset)
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("simulate: cannot write an image of %d bytes: %w", im.size, err)
	}
	return f, nil
}
