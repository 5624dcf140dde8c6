target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @f_0(ptr noalias align 64 readonly %x, ptr noalias align 64 readonly %w, ptr noalias align 64 %y, ptr noalias align 64 %scratch) #0 {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
	%1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
	%2 = icmp ult i32 %0, 64
	br i1 %2, label %phase, label %endphase

phase:
	%3 = zext i32 %0 to i64
	%4 = getelementptr inbounds i32, ptr %w, i32 %0
	%5 = load i32, ptr %4, align 4
	%6 = call i32 @llvm.ctpop.i32(i32 %5)
	%7 = getelementptr inbounds i32, ptr %scratch, i32 %0
	store i32 %6, ptr %7, align 4
	br label %endphase

endphase:
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

declare i32 @llvm.ctpop.i32(i32 %0)

attributes #0 = { nounwind "no-builtins" "target-cpu"="sm_90" "target-features"="+ptx78" "denormal-fp-math"="ieee,ieee" "nvvm.reqntid"="64" }

; next kernel
target triple = "nvptx64-nvidia-cuda"

@f_1.t = internal addrspace(3) global [64 x float] undef, align 64

define ptx_kernel void @f_1(ptr noalias align 64 readonly %x, ptr noalias align 64 readonly %w, ptr noalias align 64 %y, ptr noalias align 64 %scratch) #0 {
entry:
	%0 = call float asm "", "=f,0"(float 0x0000000000000000)
	%1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
	%2 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
	%3 = zext i32 %2 to i64
	%4 = icmp ult i32 %1, 64
	br i1 %4, label %phase, label %endphase

phase:
	%5 = zext i32 %1 to i64
	%6 = mul i32 %2, 64
	%7 = add i32 %6, %1
	%8 = getelementptr inbounds float, ptr %x, i32 %7
	%9 = load float, ptr %8, align 4
	%10 = bitcast float %9 to i32
	%11 = and i32 %10, 2139095040
	%12 = icmp eq i32 %11, 0
	%13 = bitcast float %9 to i32
	%14 = and i32 %13, -2147483648
	%15 = select i1 %12, i32 %14, i32 %13
	%16 = bitcast i32 %15 to float
	%17 = call float @llvm.sqrt.f32(float %16)
	%18 = getelementptr inbounds i32, ptr %scratch, i32 %1
	%19 = load i32, ptr %18, align 4
	%20 = sitofp i32 %19 to float
	%21 = fdiv float %17, %20
	%22 = fmul float %17, 0x4170000000000000
	%23 = fdiv float %22, %20
	%24 = call float @llvm.fabs.f32(float %23)
	%25 = fcmp olt float %24, 0x3990000000000000
	%26 = bitcast float %21 to i32
	%27 = and i32 %26, -2147483648
	%28 = select i1 %25, i32 %27, i32 %26
	%29 = bitcast i32 %28 to float
	%30 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @f_1.t to ptr), i32 %1
	store float %29, ptr %30, align 4
	br label %endphase

endphase:
	call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
	%31 = icmp ult i32 %1, 64
	br i1 %31, label %phase.2, label %endphase.2

phase.2:
	%32 = zext i32 %1 to i64
	%33 = mul i32 %1, -1
	%34 = add i32 %33, 63
	%35 = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @f_1.t to ptr), i32 %34
	%36 = load float, ptr %35, align 4
	%37 = mul i32 %2, 64
	%38 = add i32 %37, %1
	%39 = getelementptr inbounds float, ptr %x, i32 %38
	%40 = load float, ptr %39, align 4
	%41 = bitcast float %40 to i32
	%42 = and i32 %41, 2139095040
	%43 = icmp eq i32 %42, 0
	%44 = bitcast float %40 to i32
	%45 = and i32 %44, -2147483648
	%46 = select i1 %43, i32 %45, i32 %44
	%47 = bitcast i32 %46 to float
	%48 = call float @llvm.fma.f32(float %36, float 0x4000000000000000, float %47)
	%49 = call float asm "", "=f,0"(float %48)
	%50 = fmul float %36, 0x4170000000000000
	%51 = fmul float %47, 0x4170000000000000
	%52 = call float @llvm.fma.f32(float %50, float 0x4000000000000000, float %51)
	%53 = call float @llvm.fabs.f32(float %52)
	%54 = fcmp olt float %53, 0x3990000000000000
	%55 = bitcast float %49 to i32
	%56 = and i32 %55, -2147483648
	%57 = select i1 %54, i32 %56, i32 %55
	%58 = bitcast i32 %57 to float
	%59 = fneg float %0
	%60 = fcmp ogt float %58, %59
	%61 = select i1 %60, float %58, float 0x8000000000000000
	%62 = mul i32 %2, 64
	%63 = add i32 %62, %1
	%64 = getelementptr inbounds float, ptr %y, i32 %63
	store float %61, ptr %64, align 4
	br label %endphase.2

endphase.2:
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

declare float @llvm.sqrt.f32(float %0)

declare float @llvm.fabs.f32(float %0)

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 %0)

declare float @llvm.fma.f32(float %0, float %1, float %2)

attributes #0 = { nounwind "no-builtins" "target-cpu"="sm_90" "target-features"="+ptx78" "denormal-fp-math"="ieee,ieee" "nvvm.reqntid"="64" }
