// Runs jobs on AArch64 Linux, simulated or not: a static program without libc. It maps the image file argv[1]
// where the image wants to be, runs the jobs in it, and ends with 0; results are in the file. Exit codes from 120 on
// say what failed here. The offsets are those of image.go.
//
// Registers kept throughout: x19 = 0 or file, x20 = header, x21 = job, x22 = where its timing lies, x23 = threads of the job,
// x24 = this thread's number, x25 = number of the job, x26 = exit code, or the arrivals that meet waits for.
	.text
	.globl	_start
_start:
	ldr	x0, [sp]		// argc
	cmp	x0, #2
	mov	x26, #120
	b.lo	fail
	ldr	x1, [sp, #16]		// argv[1]
	mov	x0, #-100		// relative to the working directory
	mov	x2, #2			// read and write
	mov	x3, #0
	mov	x8, #56			// openat
	svc	#0
	mov	x26, #121
	tbnz	x0, #63, fail
	mov	x19, x0
	sub	sp, sp, #32
	mov	x1, sp
	mov	x2, #32
	mov	x8, #63			// read
	svc	#0
	mov	x26, #122
	cmp	x0, #32
	b.ne	fail
	ldr	x0, [sp]
	ldr	x1, =0x31474d4943504952	// "RIPCIMG1"
	cmp	x0, x1
	b.ne	fail
	ldp	x20, x1, [sp, #8]	// address and size of the image
	mov	x0, x20
	mov	x2, #3			// read and write
	mov	x3, #0x11		// shared, fixed
	mov	x4, x19
	mov	x5, #0
	mov	x8, #222		// mmap
	svc	#0
	mov	x26, #123
	cmp	x0, x20
	b.ne	fail
	ldp	x22, x23, [x20, #48]	// count and address of the protections
	mov	x26, #124
protect:
	cbz	x22, protected
	ldp	x0, x1, [x23], #16
	ldr	x2, [x23], #8
	mov	x8, #226		// mprotect
	svc	#0
	cbnz	x0, fail
	sub	x22, x22, #1
	b	protect
protected:
	ldp	x0, x1, [x20, #64]	// stacks and size of one
	add	x0, x0, x1
	mov	sp, x0			// thread 0 has the first
	mov	x25, #0

job:	ldp	x0, x1, [x20, #32]	// count and address of the jobs
	cmp	x25, x0
	b.hs	end
	add	x21, x1, x25, lsl #7
	str	x25, [x20, #80]		// how far we are, for messages
	str	xzr, [x21, #56]		// no thread is done
	ldr	x23, [x21, #32]
	mov	x24, #1
	mov	x26, #125
spawn:	cmp	x24, x23
	b.hs	spawned
	ldp	x2, x3, [x20, #64]
	add	x1, x24, #1
	madd	x1, x1, x3, x2		// top of this thread's stack
	mov	w0, #0x0f00		// VM, FS, FILES, SIGHAND
	movk	w0, #0x5, lsl #16	// THREAD, SYSVSEM
	mov	x2, #0
	mov	x3, #0
	mov	x4, #0
	mov	x8, #220		// clone
	svc	#0
	cbz	x0, child
	tbnz	x0, #63, fail
	add	x24, x24, #1
	b	spawn
child:	bl	work
	bl	report			// from here on the stack belongs to the next job
	mov	x0, #0
	mov	x8, #93			// exit this thread
	svc	#0

spawned:
	mov	x24, #0
	bl	work
	bl	report
	add	x27, x21, #56
join:	ldar	w0, [x27]
	cmp	w0, w23
	b.eq	joined
	mov	x8, #124		// sched_yield
	svc	#0
	b	join
joined:
	ldp	x0, x1, [x21, #64]	// count and address of the captures
capture:
	cbz	x0, captured
	ldp	x2, x3, [x1], #16	// to, from
	ldr	x4, [x1], #8		// bytes, a multiple of 64
copy:	cbz	x4, copied
	ldp	q0, q1, [x3], #32
	stp	q0, q1, [x2], #32
	sub	x4, x4, #32
	b	copy
copied:	sub	x0, x0, #1
	b	capture
captured:
	add	x25, x25, #1
	b	job

// At the end, whoever made the image may want some of the jobs again: it says from which on.
end:	mov	x26, #0
	ldr	x0, [x20, #88]
	cbz	x0, fail
	mov	x0, #1
	add	x1, x20, #80
	mov	x2, #8
	mov	x8, #64			// write
	svc	#0
	mov	x0, #0
	add	x1, x20, #96
	mov	x2, #8
	mov	x8, #63			// read
	svc	#0
	cmp	x0, #8
	b.ne	fail
	ldr	x25, [x20, #96]
	b	job
fail:	mov	x0, x26
	mov	x8, #94			// exit all threads
	svc	#0

// work does a thread's part of a job: one call, or many that are timed. The value of the entry point is in w10, of many
// calls all values combined. x27 is the time at the start, x28 at the start of the sample; on the stack: 16 calls left,
// 24 value.
work:	ldr	x22, [x21, #88]
	cbz	x22, call
	stp	x29, x30, [sp, #-32]!
	str	xzr, [sp, #24]
	mov	x26, #0
	bl	now
	mov	x27, x0
sample:	cbnz	x24, ready
	ldr	x0, [x22, #40]
	ldr	x1, [x22]
	cmp	x0, x1
	b.hs	stop
	cbz	x0, flush		// there is one sample at least
	bl	now
	sub	x0, x0, x27
	ldr	x1, [x22, #16]
	cmp	x0, x1
	b.lo	flush
stop:	mov	x0, #1
	str	x0, [x22, #56]
	b	ready
flush:	ldp	x0, x1, [x22, #24]	// memory that takes the place of all else in the caches
1:	subs	x1, x1, #64
	b.lo	ready
	ldr	x2, [x0]
	add	x2, x2, #1
	str	x2, [x0], #64
	b	1b
ready:	bl	meet
	ldr	x0, [x22, #56]
	cbnz	x0, enough
	cbnz	x24, 2f
	bl	now
	mov	x28, x0
	bl	now
	sub	x1, x0, x28
	mov	x28, x0
	ldr	x2, [x22, #72]
	cmp	x1, x2
	b.hs	2f
	str	x1, [x22, #72]
2:	ldr	x0, [x22, #8]
	str	x0, [sp, #16]
round:	bl	call
	ldr	w0, [sp, #24]
	orr	w0, w0, w10
	str	w0, [sp, #24]
	bl	meet
	ldr	x0, [sp, #16]
	subs	x0, x0, #1
	str	x0, [sp, #16]
	b.ne	round
	cbnz	x24, sample
	bl	now
	sub	x0, x0, x28
	ldr	x1, [x22, #40]
	add	x2, x22, x1, lsl #3
	str	x0, [x2, #128]
	add	x1, x1, #1
	str	x1, [x22, #40]
	b	sample
enough:	cbnz	x24, 4f
	bl	now
	mov	x28, x0
	mov	x2, #2048		// a chain of 16 operations, of a cycle each, in each turn
	mov	x1, #1
	mov	x0, #1
3:	.rept	8
	add	x0, x0, x1
	eor	x0, x0, x1
	.endr
	subs	x2, x2, #1
	b.ne	3b
	bl	now
	sub	x0, x0, x28
	str	x0, [x22, #48]
4:	ldr	w10, [sp, #24]
	ldp	x29, x30, [sp], #32
	ret

// meet returns when all threads of the job have called it as often as this one.
meet:	cmp	x23, #1
	b.eq	4f
	add	x26, x26, x23
	add	x1, x22, #64
1:	ldaxr	x2, [x1]
	add	x2, x2, #1
	stlxr	w3, x2, [x1]
	cbnz	w3, 1b
	mov	x4, #4096
2:	ldar	x2, [x1]
	cmp	x2, x26
	b.hs	4f
	yield
	subs	x4, x4, #1
	b.ne	2b
	mov	x5, x1
	mov	x8, #124		// sched_yield
	svc	#0
	mov	x1, x5
	mov	x4, #1
	b	2b
4:	ret

// now is the time in nanoseconds.
now:	sub	sp, sp, #16
	mov	x0, #1			// monotonic
	mov	x1, sp
	mov	x8, #113		// clock_gettime
	svc	#0
	ldp	x0, x1, [sp], #16
	mov	w2, #0xca00		// 1000000000
	movk	w2, #0x3b9a, lsl #16
	madd	x0, x0, x2, x1
	ret

// call runs the artifact's entry point; its value is left in w10. If the job is counted, thread 0 makes a system call
// that does not exist before and after, which the counter sees. Between them lie 7 instructions of this file.
call:	str	x30, [sp, #-16]!
	ldp	x2, x5, [x21, #16]	// workspace, sync
	mov	x3, x24
	mov	x4, x23
	ldp	x6, x7, [x21, #40]	// first, last
	ldr	x9, [x20, #24]
	ldr	x0, [x21, #80]		// is it counted?
	cbnz	x0, counted
	ldp	x0, x1, [x21]		// in, out
	blr	x9
	mov	w10, w0
	ldr	x30, [sp], #16
	ret
counted:
	mov	x0, #0
	mov	x8, #5555
	svc	#0
	ldp	x0, x1, [x21]
	blr	x9
	mov	w10, w0
	mov	x0, #1
	mov	x1, x25
	mov	x8, #5555
	svc	#0
	ldr	x30, [sp], #16
	ret

// report counts this thread as done in the low half of the job's status, and keeps its value in the high half. It
// touches no stack.
report:	add	x1, x21, #56
again:	ldaxr	x2, [x1]
	add	x2, x2, #1
	orr	x2, x2, x10, lsl #32
	stlxr	w3, x2, [x1]
	cbnz	w3, again
	ret
