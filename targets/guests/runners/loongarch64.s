// Runs jobs on 64-bit LoongArch Linux, simulated or not: a static program without libc. It maps the image file argv[1]
// where the image wants to be, runs the jobs in it, and ends with 0; results are in the file. Exit codes from 120 on
// say what failed here. The offsets are those of image.go.
//
// Registers kept throughout: s0 = file, s1 = time at the start of a sample, s2 = value of the entry point, s3 = job, s4 = header,
// s5 = where the job's timing lies, s6 = threads of the job, s7 = this thread's number, s8 = number of the job, s9 = exit code, or
// the arrivals that meet waits for; the time at the start lies on the stack.
	.text
	.globl	_start
_start:
	ld.d	$a0, $sp, 0		// argc
	li.d	$s9, 120
	li.d	$t0, 2
	bltu	$a0, $t0, failed
	li.d	$a0, -100		// relative to the working directory
	ld.d	$a1, $sp, 16		// argv[1]
	li.d	$a2, 2			// read and write
	li.d	$a3, 0
	li.d	$a7, 56			// openat
	syscall	0
	li.d	$s9, 121
	bltz	$a0, failed
	move	$s0, $a0
	addi.d	$sp, $sp, -32
	move	$a1, $sp
	li.d	$a2, 32
	li.d	$a7, 63			// read
	syscall	0
	li.d	$s9, 122
	li.d	$t0, 32
	bne	$a0, $t0, failed
	ld.d	$a0, $sp, 0
	li.d	$a1, 0x31474d4943504952	// "RIPCIMG1"
	bne	$a0, $a1, failed
	ld.d	$s4, $sp, 8		// address and size of the image
	ld.d	$a1, $sp, 16
	move	$a0, $s4
	li.d	$a2, 3			// read and write
	li.d	$a3, 0x11		// shared, fixed
	move	$a4, $s0
	li.d	$a5, 0
	li.d	$a7, 222			// mmap
	syscall	0
	li.d	$s9, 123
	bne	$a0, $s4, failed
	ld.d	$s5, $s4, 48		// count and address of the protections
	ld.d	$s6, $s4, 56
	li.d	$s9, 124
protect:
	beqz	$s5, protected
	ld.d	$a0, $s6, 0
	ld.d	$a1, $s6, 8
	ld.d	$a2, $s6, 16
	addi.d	$s6, $s6, 24
	li.d	$a7, 226			// mprotect
	syscall	0
	bnez	$a0, failed
	addi.d	$s5, $s5, -1
	b	protect
failed:	b	fail
protected:
	ibar	0				// code was written
	ld.d	$a0, $s4, 64		// stacks and size of one
	ld.d	$a1, $s4, 72
	add.d	$sp, $a0, $a1		// thread 0 has the first
	li.d	$s8, 0

job:	ld.d	$a0, $s4, 32		// count and address of the jobs
	ld.d	$a1, $s4, 40
	bgeu	$s8, $a0, end
	slli.d	$t0, $s8, 7
	add.d	$s3, $a1, $t0
	st.d	$s8, $s4, 80		// how far we are, for messages
	st.d	$zero, $s3, 56		// no thread is done
	ld.d	$s6, $s3, 32
	li.d	$s7, 1
	li.d	$s9, 125
spawn:	bgeu	$s7, $s6, spawned
	ld.d	$a2, $s4, 64
	ld.d	$a3, $s4, 72
	addi.d	$a1, $s7, 1
	mul.d	$a1, $a1, $a3
	add.d	$a1, $a1, $a2		// top of this thread's stack
	li.d	$a0, 0x50f00		// VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
	li.d	$a2, 0
	li.d	$a3, 0
	li.d	$a4, 0
	li.d	$a7, 220			// clone
	syscall	0
	beqz	$a0, child
	bltz	$a0, failed
	addi.d	$s7, $s7, 1
	b	spawn
child:	bl	work
	bl	report			// from here on the stack belongs to the next job
	li.d	$a0, 0
	li.d	$a7, 93			// exit this thread
	syscall	0

spawned:
	li.d	$s7, 0
	bl	work
	bl	report
	addi.d	$a1, $s3, 56
join:	ld.w	$a0, $a1, 0
	dbar	0x14
	beq	$a0, $s6, joined
	li.d	$a7, 124			// sched_yield
	syscall	0
	addi.d	$a1, $s3, 56
	b	join
joined:
	ld.d	$a0, $s3, 64		// count and address of the captures
	ld.d	$a1, $s3, 72
capture:
	beqz	$a0, captured
	ld.d	$a2, $a1, 0		// to
	ld.d	$a3, $a1, 8		// from
	ld.d	$a4, $a1, 16		// bytes, a multiple of 64
	addi.d	$a1, $a1, 24
copy:	beqz	$a4, copied
	ld.d	$t0, $a3, 0
	ld.d	$t1, $a3, 8
	ld.d	$t2, $a3, 16
	ld.d	$t3, $a3, 24
	st.d	$t0, $a2, 0
	st.d	$t1, $a2, 8
	st.d	$t2, $a2, 16
	st.d	$t3, $a2, 24
	addi.d	$a2, $a2, 32
	addi.d	$a3, $a3, 32
	addi.d	$a4, $a4, -32
	b	copy
copied:	addi.d	$a0, $a0, -1
	b	capture
captured:
	addi.d	$s8, $s8, 1
	b	job

// At the end, whoever made the image may want some of the jobs again: it says from which on.
end:	li.d	$s9, 0
	ld.d	$a0, $s4, 88
	beqz	$a0, fail
	li.d	$a0, 1
	addi.d	$a1, $s4, 80
	li.d	$a2, 8
	li.d	$a7, 64			// write
	syscall	0
	li.d	$a0, 0
	addi.d	$a1, $s4, 96
	li.d	$a2, 8
	li.d	$a7, 63			// read
	syscall	0
	li.d	$t0, 8
	bne	$a0, $t0, fail
	ld.d	$s8, $s4, 96
	b	job
fail:	move	$a0, $s9
	li.d	$a7, 94			// exit all threads
	syscall	0

// work does a thread's part of a job: one call, or many that are timed. The value of the entry point is in s2, of many
// calls all values combined. On the stack: 0 the return address, 8 the time at the start, 16 calls left, 24 value.
work:	ld.d	$s5, $s3, 88
	beqz	$s5, invoke
	addi.d	$sp, $sp, -32
	st.d	$ra, $sp, 0
	st.d	$zero, $sp, 24
	li.d	$s9, 0
	bl	now
	st.d	$a0, $sp, 8
sample:	bnez	$s7, ready
	ld.d	$a0, $s5, 40
	ld.d	$a1, $s5, 0
	bgeu	$a0, $a1, stop
	beqz	$a0, flush		// there is one sample at least
	bl	now
	ld.d	$a1, $sp, 8
	sub.d	$a0, $a0, $a1
	ld.d	$a1, $s5, 16
	bltu	$a0, $a1, flush
stop:	li.d	$a0, 1
	st.d	$a0, $s5, 56
	b	ready
flush:	ld.d	$a0, $s5, 24		// memory that takes the place of all else in the caches
	ld.d	$a1, $s5, 32
	li.d	$t0, 64
1:	bltu	$a1, $t0, ready
	addi.d	$a1, $a1, -64
	ld.d	$a2, $a0, 0
	addi.d	$a2, $a2, 1
	st.d	$a2, $a0, 0
	addi.d	$a0, $a0, 64
	b	1b
ready:	bl	meet
	ld.d	$a0, $s5, 56
	bnez	$a0, enough
	bnez	$s7, 2f
	bl	now
	move	$s1, $a0
	bl	now
	sub.d	$a1, $a0, $s1
	move	$s1, $a0
	ld.d	$a2, $s5, 72
	bgeu	$a1, $a2, 2f
	st.d	$a1, $s5, 72
2:	ld.d	$a0, $s5, 8
	st.d	$a0, $sp, 16
round:	bl	invoke
	ld.d	$a0, $sp, 24
	or	$a0, $a0, $s2
	st.d	$a0, $sp, 24
	bl	meet
	ld.d	$a0, $sp, 16
	addi.d	$a0, $a0, -1
	st.d	$a0, $sp, 16
	bnez	$a0, round
	bnez	$s7, sample
	bl	now
	sub.d	$a0, $a0, $s1
	ld.d	$a1, $s5, 40
	slli.d	$t0, $a1, 3
	add.d	$a2, $s5, $t0
	st.d	$a0, $a2, 128
	addi.d	$a1, $a1, 1
	st.d	$a1, $s5, 40
	b	sample
enough:	bnez	$s7, 4f
	bl	now
	move	$s1, $a0
	li.d	$a2, 2048		// a chain of 16 operations, of a cycle each, in each turn
	li.d	$a1, 1
	li.d	$a0, 1
3:	.rept	8
	add.d	$a0, $a0, $a1
	xor	$a0, $a0, $a1
	.endr
	addi.d	$a2, $a2, -1
	bnez	$a2, 3b
	bl	now
	sub.d	$a0, $a0, $s1
	st.d	$a0, $s5, 48
4:	ld.d	$s2, $sp, 24
	ld.d	$ra, $sp, 0
	addi.d	$sp, $sp, 32
	ret

// meet returns when all threads of the job have called it as often as this one.
meet:	li.d	$t0, 1
	beq	$s6, $t0, 4f
	add.d	$s9, $s9, $s6
	addi.d	$a1, $s5, 64
	amadd_db.d	$zero, $t0, $a1
	li.d	$a4, 4096
2:	ld.d	$a2, $a1, 0
	dbar	0x14
	bgeu	$a2, $s9, 4f
	addi.d	$a4, $a4, -1
	bnez	$a4, 2b
	li.d	$a7, 124			// sched_yield
	syscall	0
	li.d	$a4, 1
	b	2b
4:	ret

// now is the time in nanoseconds.
now:	addi.d	$sp, $sp, -16
	li.d	$a0, 1			// monotonic
	move	$a1, $sp
	li.d	$a7, 113			// clock_gettime
	syscall	0
	ld.d	$a0, $sp, 0
	ld.d	$a1, $sp, 8
	addi.d	$sp, $sp, 16
	li.d	$a2, 1000000000
	mul.d	$a0, $a0, $a2
	add.d	$a0, $a0, $a1
	ret

// invoke runs the artifact's entry point; its value is left in s2. If the job is counted, thread 0 makes a system call
// that does not exist before and after, which the counter sees.
invoke:	addi.d	$sp, $sp, -16
	st.d	$ra, $sp, 0
	ld.d	$a2, $s3, 80		// is it counted?
	st.d	$a2, $sp, 8
	beqz	$a2, 1f
	li.d	$a0, 0
	li.d	$a7, 5555
	syscall	0
1:	ld.d	$a0, $s3, 0		// in, out
	ld.d	$a1, $s3, 8
	ld.d	$a2, $s3, 16		// workspace, sync
	ld.d	$a5, $s3, 24
	move	$a3, $s7
	move	$a4, $s6
	ld.d	$a6, $s3, 40		// first, last
	ld.d	$a7, $s3, 48
	ld.d	$t0, $s4, 24
	jirl	$ra, $t0, 0
	slli.d	$s2, $a0, 32
	srli.d	$s2, $s2, 32
	ld.d	$a2, $sp, 8
	beqz	$a2, 2f
	li.d	$a0, 1
	move	$a1, $s8
	li.d	$a7, 5555
	syscall	0
2:	ld.d	$ra, $sp, 0
	addi.d	$sp, $sp, 16
	ret

// report counts this thread as done in the low half of the job's status, and keeps its value in the high half. It
// touches no stack.
report:	slli.d	$a2, $s2, 32
	addi.d	$a1, $s3, 56
again:	ll.d	$a3, $a1, 0
	addi.d	$a3, $a3, 1
	or	$a3, $a3, $a2
	sc.d	$a3, $a1, 0
	beqz	$a3, again
	ret
