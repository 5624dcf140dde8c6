// The guest half of the simulator for AArch64 Linux: a static program without libc. It maps the image file argv[1]
// where the image wants to be, runs the jobs in it, and ends with 0; results are in the file. Exit codes from 120 on
// say what failed here. The offsets are those of image.go.
//
// Registers kept throughout: x19 = 0 or file, x20 = header, x21 = job, x22 = jobs left, x23 = threads of the job,
// x24 = this thread's number, x25 = number of the job.
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
	ldp	x22, x21, [x20, #32]
	mov	x25, #0

job:	cbz	x22, end
	str	x25, [x20, #80]		// how far we are, for messages
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
child:	bl	call
	bl	report			// from here on the stack belongs to the next job
	mov	x0, #0
	mov	x8, #93			// exit this thread
	svc	#0

spawned:
	mov	x24, #0
	bl	call
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
	add	x21, x21, #128
	add	x25, x25, #1
	sub	x22, x22, #1
	b	job
end:	mov	x26, #0
fail:	mov	x0, x26
	mov	x8, #94			// exit all threads
	svc	#0

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
