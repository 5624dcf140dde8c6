@ Runs jobs on 32-bit Arm Linux, simulated or not: a static program without libc. It maps the image file argv[1]
@ where the image wants to be, runs the jobs in it, and ends with 0; results are in the file. Exit codes from 120 on
@ say what failed here. The offsets are those of image.go; of its 64-bit words the low half is read.
@
@ Registers kept throughout: r4 = job, r5 = where its timing lies, r6 = threads of the job, r8 = this thread's number (0 or
@ file at first), r9 = number of the job, r10 = header, r11 = exit code, or the arrivals that meet waits for. r7 is the
@ number of a system call.
	.syntax	unified
	.arch	armv7-a
	.fpu	neon
	.arm
	.text
	.globl	_start
_start:
	ldr	r0, [sp]		@ argc
	mov	r11, #120
	cmp	r0, #2
	blo	fail
	ldr	r1, [sp, #8]		@ argv[1]
	mvn	r0, #99			@ -100: relative to the working directory
	mov	r2, #2			@ read and write
	mov	r3, #0
	movw	r7, #322		@ openat
	svc	#0
	mov	r11, #121
	cmp	r0, #0
	blt	fail
	mov	r8, r0
	sub	sp, sp, #32
	mov	r1, sp
	mov	r2, #32
	mov	r7, #3			@ read
	svc	#0
	mov	r11, #122
	cmp	r0, #32
	bne	fail
	ldrd	r0, r1, [sp]
	movw	r2, #0x4952		@ "RIPC"
	movt	r2, #0x4350
	movw	r3, #0x4d49		@ "IMG1"
	movt	r3, #0x3147
	cmp	r0, r2
	cmpeq	r1, r3
	bne	fail
	ldr	r10, [sp, #8]		@ address of the image
	ldr	r1, [sp, #16]		@ its size
	mov	r0, r10
	mov	r2, #3			@ read and write
	mov	r3, #0x11		@ shared, fixed
	mov	r4, r8
	mov	r5, #0
	mov	r7, #192		@ mmap2
	svc	#0
	mov	r11, #123
	cmp	r0, r10
	bne	fail
	ldr	r5, [r10, #48]		@ count and address of the protections
	ldr	r6, [r10, #56]
	mov	r11, #124
protect:
	cmp	r5, #0
	beq	protected
	ldr	r0, [r6], #8
	ldr	r1, [r6], #8
	ldr	r2, [r6], #8
	mov	r7, #125		@ mprotect
	svc	#0
	cmp	r0, #0
	bne	fail
	sub	r5, r5, #1
	b	protect
protected:
	ldr	r0, [r10, #64]		@ stacks
	ldr	r1, [r10, #72]		@ size of one
	add	sp, r0, r1		@ thread 0 has the first
	mov	r9, #0

job:	ldr	r0, [r10, #32]		@ count and address of the jobs
	ldr	r1, [r10, #40]
	cmp	r9, r0
	bhs	end
	add	r4, r1, r9, lsl #7
	str	r9, [r10, #80]		@ how far we are, for messages
	mov	r0, #0
	mov	r1, #0
	strd	r0, r1, [r4, #56]	@ no thread is done
	ldr	r6, [r4, #32]
	mov	r8, #1
	mov	r11, #125
spawn:	cmp	r8, r6
	bhs	spawned
	ldr	r2, [r10, #64]
	ldr	r3, [r10, #72]
	add	r1, r8, #1
	mla	r1, r1, r3, r2		@ top of this thread's stack
	movw	r0, #0x0f00		@ VM, FS, FILES, SIGHAND
	movt	r0, #0x5		@ THREAD, SYSVSEM
	mov	r2, #0
	mov	r3, #0
	mov	r7, #120		@ clone
	svc	#0
	cmp	r0, #0
	beq	child
	blt	fail
	add	r8, r8, #1
	b	spawn
child:	bl	work
	bl	report			@ from here on the stack belongs to the next job
	mov	r0, #0
	mov	r7, #1			@ exit this thread
	svc	#0

spawned:
	mov	r8, #0
	bl	work
	bl	report
join:	ldr	r0, [r4, #56]
	dmb	ish
	cmp	r0, r6
	beq	joined
	mov	r7, #158		@ sched_yield
	svc	#0
	b	join
joined:
	ldr	r0, [r4, #64]		@ count and address of the captures
	ldr	r1, [r4, #72]
capture:
	cmp	r0, #0
	beq	captured
	ldr	r2, [r1], #8		@ to
	ldr	r3, [r1], #8		@ from
	ldr	r12, [r1], #8		@ bytes, a multiple of 64
copy:	cmp	r12, #0
	beq	copied
	vld1.64	{d0-d3}, [r3]!
	vst1.64	{d0-d3}, [r2]!
	sub	r12, r12, #32
	b	copy
copied:	sub	r0, r0, #1
	b	capture
captured:
	add	r9, r9, #1
	b	job

@ At the end, whoever made the image may want some of the jobs again: it says from which on.
end:	mov	r11, #0
	ldr	r0, [r10, #88]
	cmp	r0, #0
	beq	fail
	mov	r0, #1
	add	r1, r10, #80
	mov	r2, #8
	mov	r7, #4			@ write
	svc	#0
	mov	r0, #0
	add	r1, r10, #96
	mov	r2, #8
	mov	r7, #3			@ read
	svc	#0
	cmp	r0, #8
	bne	fail
	ldr	r9, [r10, #96]
	b	job
fail:	mov	r0, r11
	mov	r7, #248		@ exit all threads
	svc	#0

@ work does a thread's part of a job: one call, or many that are timed. The value of the entry point is in r12, of many
@ calls all values combined. On the stack: 0 time at the start, 8 at the start of the sample, 16 calls left, 20 value.
work:	ldr	r5, [r4, #88]
	cmp	r5, #0
	beq	call
	push	{r3, lr}
	sub	sp, sp, #24
	mov	r11, #0
	str	r11, [sp, #20]
	bl	now
	strd	r0, r1, [sp]
sample:	cmp	r8, #0
	bne	ready
	ldr	r0, [r5, #40]
	ldr	r1, [r5]
	cmp	r0, r1
	bhs	stop
	cmp	r0, #0			@ there is one sample at least
	beq	flush
	bl	now
	ldrd	r2, r3, [sp]
	subs	r0, r0, r2
	sbc	r1, r1, r3
	ldrd	r2, r3, [r5, #16]
	subs	r0, r0, r2
	sbcs	r1, r1, r3
	blo	flush
stop:	mov	r0, #1
	str	r0, [r5, #56]
	b	ready
flush:	ldr	r0, [r5, #24]		@ memory that takes the place of all else in the caches
	ldr	r1, [r5, #32]
1:	subs	r1, r1, #64
	blo	ready
	ldr	r2, [r0]
	add	r2, r2, #1
	str	r2, [r0], #64
	b	1b
ready:	bl	meet
	ldr	r0, [r5, #56]
	cmp	r0, #0
	bne	enough
	cmp	r8, #0
	bne	2f
	bl	now
	strd	r0, r1, [sp, #8]
	bl	now
	ldr	r2, [sp, #8]
	strd	r0, r1, [sp, #8]
	sub	r0, r0, r2
	ldr	r1, [r5, #72]
	cmp	r0, r1
	strlo	r0, [r5, #72]
2:	ldr	r0, [r5, #8]
	str	r0, [sp, #16]
round:	bl	call
	ldr	r0, [sp, #20]
	orr	r0, r0, r12
	str	r0, [sp, #20]
	bl	meet
	ldr	r0, [sp, #16]
	subs	r0, r0, #1
	str	r0, [sp, #16]
	bne	round
	cmp	r8, #0
	bne	sample
	bl	now
	ldrd	r2, r3, [sp, #8]
	subs	r0, r0, r2
	sbc	r1, r1, r3
	ldr	r2, [r5, #40]
	add	r3, r5, #128
	add	r3, r3, r2, lsl #3
	strd	r0, r1, [r3]
	add	r2, r2, #1
	str	r2, [r5, #40]
	b	sample
enough:	cmp	r8, #0
	bne	4f
	bl	now
	strd	r0, r1, [sp, #8]
	mov	r2, #2048		@ a chain of 16 operations, of a cycle each, in each turn
	mov	r1, #1
	mov	r0, #1
3:	.rept	8
	add	r0, r0, r1
	eor	r0, r0, r1
	.endr
	subs	r2, r2, #1
	bne	3b
	bl	now
	ldr	r2, [sp, #8]
	sub	r0, r0, r2
	str	r0, [r5, #48]
4:	ldr	r12, [sp, #20]
	add	sp, sp, #24
	pop	{r3, pc}

@ meet returns when all threads of the job have called it as often as this one.
meet:	cmp	r6, #1
	bxeq	lr
	add	r11, r11, r6
	add	r1, r5, #64
	dmb	ish
1:	ldrex	r2, [r1]
	add	r2, r2, #1
	strex	r3, r2, [r1]
	cmp	r3, #0
	bne	1b
	mov	r3, #4096
2:	ldr	r2, [r1]
	dmb	ish
	cmp	r2, r11
	bxhs	lr
	subs	r3, r3, #1
	bne	2b
	mov	r12, r1
	mov	r7, #158		@ sched_yield
	svc	#0
	mov	r1, r12
	mov	r3, #1
	b	2b

@ now is the time in nanoseconds, in r0 and r1.
now:	sub	sp, sp, #8
	mov	r0, #1			@ monotonic
	mov	r1, sp
	movw	r7, #263		@ clock_gettime
	svc	#0
	pop	{r2, r3}
	movw	r1, #0xca00		@ 1000000000
	movt	r1, #0x3b9a
	umull	r0, r1, r2, r1
	adds	r0, r0, r3
	adc	r1, r1, #0
	bx	lr

@ call runs the artifact's entry point; its value is left in r12. If the job is counted, thread 0 makes a system call
@ that does not exist before and after, which the counter sees. Between them lie 10 instructions of this file.
call:	push	{r3, lr}
	sub	sp, sp, #16
	str	r6, [sp]		@ threads
	ldr	r0, [r4, #24]		@ sync
	str	r0, [sp, #4]
	ldr	r0, [r4, #40]		@ first
	str	r0, [sp, #8]
	ldr	r0, [r4, #48]		@ last
	str	r0, [sp, #12]
	ldr	r0, [r4, #80]		@ is it counted?
	cmp	r0, #0
	bne	counted
	ldr	r12, [r10, #24]
	ldr	r0, [r4]		@ in
	ldr	r1, [r4, #8]		@ out
	ldr	r2, [r4, #16]		@ workspace
	mov	r3, r8
	blx	r12
	mov	r12, r0
	add	sp, sp, #16
	pop	{r3, pc}
counted:
	mov	r0, #0
	movw	r7, #5555
	svc	#0
	ldr	r12, [r10, #24]
	ldr	r0, [r4]
	ldr	r1, [r4, #8]
	ldr	r2, [r4, #16]
	mov	r3, r8
	blx	r12
	mov	r12, r0
	mov	r0, #1
	mov	r1, r9
	svc	#0
	add	sp, sp, #16
	pop	{r3, pc}

@ report counts this thread as done in the low half of the job's status, and keeps its value in the high half. It
@ touches no stack.
report:	add	r3, r4, #56
	dmb	ish
again:	ldrexd	r0, r1, [r3]
	add	r0, r0, #1
	orr	r1, r1, r12
	strexd	r2, r0, r1, [r3]
	cmp	r2, #0
	bne	again
	bx	lr
