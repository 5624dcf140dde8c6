# Runs jobs on x86-64 Linux: a static program without libc. It maps the image file argv[1] where the image wants to be,
# runs the jobs in it, and ends with 0; results are in the file. Exit codes from 120 on say what failed here. The offsets are
# those of image.go.
#
# Registers kept throughout: rbx = header, r12 = job, r14 = this thread's number (file at first), r15 = number of the job,
# rbp = exit code, or where the job's timing lies.
	.text
	.globl	_start
_start:
	mov	$120, %ebp
	cmpq	$2, (%rsp)		# argc
	jb	fail
	mov	$-100, %rdi		# relative to the working directory
	mov	16(%rsp), %rsi		# argv[1]
	mov	$2, %edx		# read and write
	xor	%r10d, %r10d
	mov	$257, %eax		# openat
	syscall
	mov	$121, %ebp
	test	%rax, %rax
	js	fail
	mov	%rax, %r14
	sub	$32, %rsp
	mov	%r14, %rdi
	mov	%rsp, %rsi
	mov	$32, %edx
	xor	%eax, %eax		# read
	syscall
	mov	$122, %ebp
	cmp	$32, %rax
	jne	fail
	movabs	$0x31474d4943504952, %rcx	# "RIPCIMG1"
	cmp	%rcx, (%rsp)
	jne	fail
	mov	8(%rsp), %rbx		# address of the image
	mov	16(%rsp), %rsi		# its size
	mov	%rbx, %rdi
	mov	$3, %edx		# read and write
	mov	$0x11, %r10d		# shared, fixed
	mov	%r14, %r8
	xor	%r9d, %r9d
	mov	$9, %eax		# mmap
	syscall
	mov	$123, %ebp
	cmp	%rbx, %rax
	jne	fail
	mov	48(%rbx), %r12		# count and address of the protections
	mov	56(%rbx), %r13
	mov	$124, %ebp
protect:
	test	%r12, %r12
	jz	protected
	mov	(%r13), %rdi
	mov	8(%r13), %rsi
	mov	16(%r13), %rdx
	mov	$10, %eax		# mprotect
	syscall
	test	%rax, %rax
	jnz	fail
	add	$24, %r13
	dec	%r12
	jmp	protect
protected:
	mov	64(%rbx), %rsp		# stacks, and size of one
	add	72(%rbx), %rsp		# thread 0 has the first
	xor	%r15d, %r15d

job:	cmp	32(%rbx), %r15
	jae	end
	mov	%r15, 80(%rbx)		# how far we are, for messages
	mov	%r15, %r12
	shl	$7, %r12
	add	40(%rbx), %r12
	movq	$0, 56(%r12)		# no thread is done
	mov	$1, %r14d
	mov	$125, %ebp
spawn:	cmp	32(%r12), %r14
	jae	spawned
	lea	1(%r14), %rsi
	imul	72(%rbx), %rsi
	add	64(%rbx), %rsi		# top of this thread's stack
	mov	$0x50f00, %edi		# VM, FS, FILES, SIGHAND, THREAD, SYSVSEM
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	mov	$56, %eax		# clone
	syscall
	test	%rax, %rax
	jz	child
	js	fail
	inc	%r14
	jmp	spawn
child:	call	work
	lock orl %eax, 60(%r12)
	lock incl 56(%r12)		# from here on the stack belongs to the next job
	xor	%edi, %edi
	mov	$60, %eax		# exit this thread
	syscall

spawned:
	xor	%r14d, %r14d
	call	work
	lock orl %eax, 60(%r12)
	lock incl 56(%r12)
join:	mov	56(%r12), %eax
	cmp	32(%r12), %eax
	je	joined
	mov	$24, %eax		# sched_yield
	syscall
	jmp	join
joined:
	mov	64(%r12), %rax		# count and address of the captures
	mov	72(%r12), %rdx
capture:
	test	%rax, %rax
	jz	captured
	mov	(%rdx), %rdi		# to
	mov	8(%rdx), %rsi		# from
	mov	16(%rdx), %rcx		# bytes
	rep movsb
	add	$24, %rdx
	dec	%rax
	jmp	capture
captured:
	inc	%r15
	jmp	job

# At the end, whoever made the image may want some of the jobs again: it says from which on.
end:	xor	%ebp, %ebp
	cmpq	$0, 88(%rbx)
	je	fail
	mov	$1, %edi
	lea	80(%rbx), %rsi
	mov	$8, %edx
	mov	$1, %eax		# write
	syscall
	xor	%edi, %edi
	lea	96(%rbx), %rsi
	mov	$8, %edx
	xor	%eax, %eax		# read
	syscall
	cmp	$8, %rax
	jne	fail
	mov	96(%rbx), %r15
	jmp	job
fail:	mov	%ebp, %edi
	mov	$231, %eax		# exit all threads
	syscall

# work does a thread's part of a job: one call, or many that are timed. The value of the entry point is in eax, of many
# calls all values combined. On the stack: 0 arrivals that meet waits for, 8 time at the start, 16 at the start of the
# sample, 24 calls left, 32 value.
work:	push	%rbp
	sub	$48, %rsp
	mov	88(%r12), %rbp
	test	%rbp, %rbp
	jnz	timed
	call	entry
	add	$48, %rsp
	pop	%rbp
	ret
timed:	movq	$0, (%rsp)
	movl	$0, 32(%rsp)
	call	now
	mov	%rax, 8(%rsp)
sample:	test	%r14, %r14
	jnz	ready
	mov	40(%rbp), %rax
	cmp	(%rbp), %rax
	jae	stop
	test	%rax, %rax		# there is one sample at least
	jz	flush
	call	now
	sub	8(%rsp), %rax
	cmp	16(%rbp), %rax
	jb	flush
stop:	movq	$1, 56(%rbp)
	jmp	ready
flush:	mov	24(%rbp), %rsi		# memory that takes the place of all else in the caches
	mov	32(%rbp), %rcx
1:	sub	$64, %rcx
	jb	ready
	incq	(%rsi,%rcx)
	jmp	1b
ready:	call	meet
	cmpq	$0, 56(%rbp)
	jne	enough
	test	%r14, %r14
	jnz	2f
	call	now
	mov	%rax, 16(%rsp)
	call	now
	mov	%rax, %rcx
	sub	16(%rsp), %rcx
	mov	%rax, 16(%rsp)
	cmp	72(%rbp), %rcx
	jae	2f
	mov	%rcx, 72(%rbp)
2:	mov	8(%rbp), %rax
	mov	%rax, 24(%rsp)
round:	call	entry
	or	%eax, 32(%rsp)
	call	meet
	decq	24(%rsp)
	jnz	round
	test	%r14, %r14
	jnz	sample
	call	now
	sub	16(%rsp), %rax
	mov	40(%rbp), %rcx
	mov	%rax, 128(%rbp,%rcx,8)
	incq	40(%rbp)
	jmp	sample
enough:	test	%r14, %r14
	jnz	4f
	call	now
	mov	%rax, 16(%rsp)
	mov	$2048, %ecx		# a chain of 16 operations, of a cycle each, in each turn
	mov	$1, %edx
	mov	$1, %eax
3:	.rept	8
	add	%rdx, %rax
	xor	%rdx, %rax
	.endr
	dec	%ecx
	jnz	3b
	call	now
	sub	16(%rsp), %rax
	mov	%rax, 48(%rbp)
4:	mov	32(%rsp), %eax
	add	$48, %rsp
	pop	%rbp
	ret

# meet returns when all threads of the job have called it as often as this one.
meet:	cmpq	$1, 32(%r12)
	je	2f
	mov	32(%r12), %rax
	add	%rax, 8(%rsp)
	mov	8(%rsp), %rdx
	lock incq 64(%rbp)
	mov	$4096, %ecx
1:	cmp	%rdx, 64(%rbp)
	jae	2f
	pause
	dec	%ecx
	jnz	1b
	mov	$24, %eax		# sched_yield
	mov	%rdx, %r8
	syscall
	mov	%r8, %rdx
	mov	$1, %ecx
	jmp	1b
2:	ret

# now is the time in nanoseconds.
now:	sub	$24, %rsp
	mov	$1, %edi		# monotonic
	mov	%rsp, %rsi
	mov	$228, %eax		# clock_gettime
	syscall
	imul	$1000000000, (%rsp), %rax
	add	8(%rsp), %rax
	add	$24, %rsp
	ret

# entry calls the artifact.
entry:	sub	$8, %rsp
	pushq	48(%r12)		# last
	pushq	40(%r12)		# first
	mov	(%r12), %rdi		# in
	mov	8(%r12), %rsi		# out
	mov	16(%r12), %rdx		# workspace
	mov	%r14d, %ecx
	mov	32(%r12), %r8d		# threads
	mov	24(%r12), %r9		# sync
	call	*24(%rbx)
	add	$24, %rsp
	ret
