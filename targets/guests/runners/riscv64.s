// Runs jobs on 64-bit RISC-V Linux, simulated or not: a static program without libc. It maps the image file argv[1]
// where the image wants to be, runs the jobs in it, and ends with 0; results are in the file. Exit codes from 120 on
// say what failed here. The offsets are those of image.go.
//
// Registers kept throughout: s0 = file, s1 = time at the start of a sample, s2 = value of the entry point, s3 = job, s4 = header,
// s5 = where the job's timing lies, s6 = threads of the job, s7 = this thread's number, s8 = number of the job, s9 = exit code, or
// the arrivals that meet waits for, s10 = time at the start.
	.option	norelax
	.option	arch, rv64gc
	.text
	.globl	_start
_start:
	ld	a0, 0(sp)		// argc
	li	s9, 120
	li	t0, 2
	bltu	a0, t0, failed
	li	a0, -100		// relative to the working directory
	ld	a1, 16(sp)		// argv[1]
	li	a2, 2			// read and write
	li	a3, 0
	li	a7, 56			// openat
	ecall
	li	s9, 121
	bltz	a0, failed
	mv	s0, a0
	addi	sp, sp, -32
	mv	a1, sp
	li	a2, 32
	li	a7, 63			// read
	ecall
	li	s9, 122
	li	t0, 32
	bne	a0, t0, failed
	ld	a0, 0(sp)
	li	a1, 0x31474d4943504952	// "RIPCIMG1"
	bne	a0, a1, failed
	ld	s4, 8(sp)		// address and size of the image
	ld	a1, 16(sp)
	mv	a0, s4
	li	a2, 3			// read and write
	li	a3, 0x11		// shared, fixed
	mv	a4, s0
	li	a5, 0
	li	a7, 222			// mmap
	ecall
	li	s9, 123
	bne	a0, s4, failed
	ld	s5, 48(s4)		// count and address of the protections
	ld	s6, 56(s4)
	li	s9, 124
protect:
	beqz	s5, protected
	ld	a0, 0(s6)
	ld	a1, 8(s6)
	ld	a2, 16(s6)
	addi	s6, s6, 24
	li	a7, 226			// mprotect
	ecall
	bnez	a0, failed
	addi	s5, s5, -1
	j	protect
failed:	j	fail
protected:
	fence.i				// code was written
	ld	a0, 64(s4)		// stacks and size of one
	ld	a1, 72(s4)
	add	sp, a0, a1		// thread 0 has the first
	li	s8, 0

job:	ld	a0, 32(s4)		// count and address of the jobs
	ld	a1, 40(s4)
	bgeu	s8, a0, end
	slli	t0, s8, 7
	add	s3, a1, t0
	sd	s8, 80(s4)		// how far we are, for messages
	sd	zero, 56(s3)		// no thread is done
	ld	s6, 32(s3)
	li	s7, 1
	li	s9, 125
spawn:	bgeu	s7, s6, spawned
	ld	a2, 64(s4)
	ld	a3, 72(s4)
	addi	a1, s7, 1
	mul	a1, a1, a3
	add	a1, a1, a2		// top of this thread's stack
	li	a0, 0x50f00		// VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
	li	a2, 0
	li	a3, 0
	li	a4, 0
	li	a7, 220			// clone
	ecall
	beqz	a0, child
	bltz	a0, failed
	addi	s7, s7, 1
	j	spawn
child:	call	work
	call	report			// from here on the stack belongs to the next job
	li	a0, 0
	li	a7, 93			// exit this thread
	ecall

spawned:
	li	s7, 0
	call	work
	call	report
	addi	a1, s3, 56
join:	lw	a0, 0(a1)
	fence	r, rw
	beq	a0, s6, joined
	li	a7, 124			// sched_yield
	ecall
	addi	a1, s3, 56
	j	join
joined:
	ld	a0, 64(s3)		// count and address of the captures
	ld	a1, 72(s3)
capture:
	beqz	a0, captured
	ld	a2, 0(a1)		// to
	ld	a3, 8(a1)		// from
	ld	a4, 16(a1)		// bytes, a multiple of 64
	addi	a1, a1, 24
copy:	beqz	a4, copied
	ld	t0, 0(a3)
	ld	t1, 8(a3)
	ld	t2, 16(a3)
	ld	t3, 24(a3)
	sd	t0, 0(a2)
	sd	t1, 8(a2)
	sd	t2, 16(a2)
	sd	t3, 24(a2)
	addi	a2, a2, 32
	addi	a3, a3, 32
	addi	a4, a4, -32
	j	copy
copied:	addi	a0, a0, -1
	j	capture
captured:
	addi	s8, s8, 1
	j	job

// At the end, whoever made the image may want some of the jobs again: it says from which on.
end:	li	s9, 0
	ld	a0, 88(s4)
	beqz	a0, fail
	li	a0, 1
	addi	a1, s4, 80
	li	a2, 8
	li	a7, 64			// write
	ecall
	li	a0, 0
	addi	a1, s4, 96
	li	a2, 8
	li	a7, 63			// read
	ecall
	li	t0, 8
	bne	a0, t0, fail
	ld	s8, 96(s4)
	j	job
fail:	mv	a0, s9
	li	a7, 94			// exit all threads
	ecall

// work does a thread's part of a job: one call, or many that are timed. The value of the entry point is in s2, of many
// calls all values combined. On the stack: 0 the return address, 16 calls left, 24 value.
work:	ld	s5, 88(s3)
	beqz	s5, invoke
	addi	sp, sp, -32
	sd	ra, 0(sp)
	sd	zero, 24(sp)
	li	s9, 0
	call	now
	mv	s10, a0
sample:	bnez	s7, ready
	ld	a0, 40(s5)
	ld	a1, 0(s5)
	bgeu	a0, a1, stop
	beqz	a0, flush		// there is one sample at least
	call	now
	sub	a0, a0, s10
	ld	a1, 16(s5)
	bltu	a0, a1, flush
stop:	li	a0, 1
	sd	a0, 56(s5)
	j	ready
flush:	ld	a0, 24(s5)		// memory that takes the place of all else in the caches
	ld	a1, 32(s5)
	li	t0, 64
1:	bltu	a1, t0, ready
	addi	a1, a1, -64
	ld	a2, 0(a0)
	addi	a2, a2, 1
	sd	a2, 0(a0)
	addi	a0, a0, 64
	j	1b
ready:	call	meet
	ld	a0, 56(s5)
	bnez	a0, enough
	bnez	s7, 2f
	call	now
	mv	s1, a0
	call	now
	sub	a1, a0, s1
	mv	s1, a0
	ld	a2, 72(s5)
	bgeu	a1, a2, 2f
	sd	a1, 72(s5)
2:	ld	a0, 8(s5)
	sd	a0, 16(sp)
round:	call	invoke
	ld	a0, 24(sp)
	or	a0, a0, s2
	sd	a0, 24(sp)
	call	meet
	ld	a0, 16(sp)
	addi	a0, a0, -1
	sd	a0, 16(sp)
	bnez	a0, round
	bnez	s7, sample
	call	now
	sub	a0, a0, s1
	ld	a1, 40(s5)
	slli	t0, a1, 3
	add	a2, s5, t0
	sd	a0, 128(a2)
	addi	a1, a1, 1
	sd	a1, 40(s5)
	j	sample
enough:	bnez	s7, 4f
	call	now
	mv	s1, a0
	li	a2, 2048		// a chain of 16 operations, of a cycle each, in each turn
	li	a1, 1
	li	a0, 1
3:	.rept	8
	add	a0, a0, a1
	xor	a0, a0, a1
	.endr
	addi	a2, a2, -1
	bnez	a2, 3b
	call	now
	sub	a0, a0, s1
	sd	a0, 48(s5)
4:	ld	s2, 24(sp)
	ld	ra, 0(sp)
	addi	sp, sp, 32
	ret

// meet returns when all threads of the job have called it as often as this one.
meet:	li	t0, 1
	beq	s6, t0, 4f
	add	s9, s9, s6
	addi	a1, s5, 64
	amoadd.d.aqrl	zero, t0, (a1)
	li	a4, 4096
2:	ld	a2, 0(a1)
	fence	r, rw
	bgeu	a2, s9, 4f
	addi	a4, a4, -1
	bnez	a4, 2b
	li	a7, 124			// sched_yield
	ecall
	li	a4, 1
	j	2b
4:	ret

// now is the time in nanoseconds.
now:	addi	sp, sp, -16
	li	a0, 1			// monotonic
	mv	a1, sp
	li	a7, 113			// clock_gettime
	ecall
	ld	a0, 0(sp)
	ld	a1, 8(sp)
	addi	sp, sp, 16
	li	a2, 1000000000
	mul	a0, a0, a2
	add	a0, a0, a1
	ret

// invoke runs the artifact's entry point; its value is left in s2. If the job is counted, thread 0 makes a system call
// that does not exist before and after, which the counter sees.
invoke:	addi	sp, sp, -16
	sd	ra, 0(sp)
	ld	a2, 80(s3)		// is it counted?
	sd	a2, 8(sp)
	beqz	a2, 1f
	li	a0, 0
	li	a7, 5555
	ecall
1:	ld	a0, 0(s3)		// in, out
	ld	a1, 8(s3)
	ld	a2, 16(s3)		// workspace, sync
	ld	a5, 24(s3)
	mv	a3, s7
	mv	a4, s6
	ld	a6, 40(s3)		// first, last
	ld	a7, 48(s3)
	ld	t0, 24(s4)
	jalr	t0
	slli	s2, a0, 32
	srli	s2, s2, 32
	ld	a2, 8(sp)
	beqz	a2, 2f
	li	a0, 1
	mv	a1, s8
	li	a7, 5555
	ecall
2:	ld	ra, 0(sp)
	addi	sp, sp, 16
	ret

// report counts this thread as done in the low half of the job's status, and keeps its value in the high half. It
// touches no stack.
report:	slli	a2, s2, 32
	addi	a1, s3, 56
again:	lr.d.aqrl	a3, (a1)
	addi	a3, a3, 1
	or	a3, a3, a2
	sc.d.aqrl	a5, a3, (a1)
	bnez	a5, again
	ret
