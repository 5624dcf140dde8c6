@ The guest half of the simulator for 32-bit Arm Linux: a static program without libc. It maps the image file argv[1]
@ where the image wants to be, runs the jobs in it, and ends with 0; results are in the file. Exit codes from 120 on
@ say what failed here. The offsets are those of image.go; of its 64-bit words the low half is read.
@
@ Registers kept throughout: r4 = job, r5 = jobs left, r6 = threads of the job, r8 = this thread's number (0 or file
@ at first), r9 = number of the job, r10 = header, r11 = exit code. r7 is the number of a system call.
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
	ldr	r5, [r10, #32]
	ldr	r4, [r10, #40]
	mov	r9, #0

job:	cmp	r5, #0
	beq	end
	str	r9, [r10, #80]		@ how far we are, for messages
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
child:	bl	call
	bl	report			@ from here on the stack belongs to the next job
	mov	r0, #0
	mov	r7, #1			@ exit this thread
	svc	#0

spawned:
	mov	r8, #0
	bl	call
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
	add	r4, r4, #128
	add	r9, r9, #1
	sub	r5, r5, #1
	b	job
end:	mov	r11, #0
fail:	mov	r0, r11
	mov	r7, #248		@ exit all threads
	svc	#0

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
