target triple = "x86_64-unknown-linux-gnu"

define hidden void @xor_tile(ptr noalias align 64 readonly %x, ptr noalias align 64 readonly %w, ptr noalias align 64 %y, ptr noalias align 64 %scratch, i32 %tid, i32 %nthreads) #0 {
entry:
	%acc = alloca [16 x i32], align 64
	%0 = zext i32 %nthreads to i64
	%1 = zext i32 %tid to i64
	%2 = mul i64 %1, 2
	%3 = udiv i64 %2, %0
	%4 = add i64 %1, 1
	%5 = mul i64 %4, 2
	%6 = udiv i64 %5, %0
	%7 = icmp ult i64 %3, %6
	br i1 %7, label %for.b, label %end.b

for.b:
	%b = phi i64 [ %3, %entry ], [ %47, %end.k ]
	store <8 x i32> splat (i32 0), ptr %acc, align 64
	%8 = getelementptr inbounds i32, ptr %acc, i64 8
	store <8 x i32> splat (i32 0), ptr %8, align 32
	br label %for.k

for.k:
	%k = phi i64 [ 0, %for.b ], [ %37, %for.k ]
	%9 = getelementptr inbounds i32, ptr %x, i64 %k
	%10 = load i32, ptr %9, align 4
	%11 = mul i64 %b, 24
	%12 = mul i64 %k, 8
	%13 = add i64 %11, %12
	%14 = getelementptr inbounds i32, ptr %w, i64 %13
	%15 = load <8 x i32>, ptr %14, align 32
	%16 = insertelement <8 x i32> poison, i32 %10, i64 0
	%17 = shufflevector <8 x i32> %16, <8 x i32> poison, <8 x i32> zeroinitializer
	%18 = xor <8 x i32> %17, %15
	%19 = call <8 x i32> @llvm.ctpop.v8i32(<8 x i32> %18)
	%20 = load <8 x i32>, ptr %acc, align 64
	%21 = call <8 x i32> @ripc_popcount_add_x8(<8 x i32> %20, <8 x i32> %18)
	store <8 x i32> %21, ptr %acc, align 64
	%22 = getelementptr inbounds i32, ptr %x, i64 %k
	%23 = getelementptr inbounds i32, ptr %22, i64 3
	%24 = load i32, ptr %23, align 4
	%25 = mul i64 %b, 24
	%26 = mul i64 %k, 8
	%27 = add i64 %25, %26
	%28 = getelementptr inbounds i32, ptr %w, i64 %27
	%29 = load <8 x i32>, ptr %28, align 32
	%30 = insertelement <8 x i32> poison, i32 %24, i64 0
	%31 = shufflevector <8 x i32> %30, <8 x i32> poison, <8 x i32> zeroinitializer
	%32 = xor <8 x i32> %31, %29
	%33 = call <8 x i32> @llvm.ctpop.v8i32(<8 x i32> %32)
	%34 = getelementptr inbounds i32, ptr %acc, i64 8
	%35 = load <8 x i32>, ptr %34, align 32
	%36 = call <8 x i32> @ripc_popcount_add_x8(<8 x i32> %35, <8 x i32> %32)
	store <8 x i32> %36, ptr %34, align 32
	%37 = add nuw nsw i64 %k, 1
	%38 = icmp ult i64 %37, 3
	br i1 %38, label %for.k, label %end.k, !llvm.loop !1

end.k:
	%39 = load <8 x i32>, ptr %acc, align 64
	%40 = mul i64 %b, 8
	%41 = getelementptr inbounds i32, ptr %y, i64 %40
	store <8 x i32> %39, ptr %41, align 32
	%42 = getelementptr inbounds i32, ptr %acc, i64 8
	%43 = load <8 x i32>, ptr %42, align 32
	%44 = mul i64 %b, 8
	%45 = getelementptr inbounds i32, ptr %y, i64 %44
	%46 = getelementptr inbounds i32, ptr %45, i64 16
	store <8 x i32> %43, ptr %46, align 32
	%47 = add nuw nsw i64 %b, 1
	%48 = icmp ult i64 %47, %6
	br i1 %48, label %for.b, label %end.b, !llvm.loop !2

end.b:
	br label %done

done:
	ret void
}

declare <8 x i32> @llvm.ctpop.v8i32(<8 x i32> %0)

attributes #0 = { nounwind "no-builtins" "target-cpu"="x86-64" "target-features"="+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+bmi,+bmi2,+f16c,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd,+fast-variable-crosslane-shuffle,+fast-variable-perlane-shuffle" "denormal-fp-math"="preserve-sign,preserve-sign" "prefer-vector-width"="512" "min-legal-vector-width"="0" }

!0 = !{!"llvm.loop.unroll.disable"}
!1 = distinct !{!1, !0}
!2 = distinct !{!2, !0}

declare <32 x i8> @llvm.ctpop.v32i8(<32 x i8>)
declare <16 x i16> @llvm.x86.avx2.pmadd.ub.sw(<32 x i8>, <32 x i8>)
declare <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16>, <16 x i16>)
define internal <8 x i32> @ripc_popcount_add_x8(<8 x i32> %acc, <8 x i32> %x) alwaysinline nounwind {
  %x0 = shufflevector <8 x i32> %x, <8 x i32> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %a0 = shufflevector <8 x i32> %acc, <8 x i32> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %b0 = bitcast <8 x i32> %x0 to <32 x i8>
  %c0 = call <32 x i8> @llvm.ctpop.v32i8(<32 x i8> %b0)
  %h0 = call <16 x i16> @llvm.x86.avx2.pmadd.ub.sw(<32 x i8> %c0, <32 x i8> splat (i8 1))
  %w0 = call <8 x i32> @llvm.x86.avx2.pmadd.wd(<16 x i16> %h0, <16 x i16> splat (i16 1))
  %s0 = add <8 x i32> %a0, %w0
  ret <8 x i32> %s0
}
