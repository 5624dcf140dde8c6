target triple = "armv7-unknown-linux-gnueabihf"

define hidden void @xor_tile(ptr noalias align 64 readonly %x, ptr noalias align 64 readonly %w, ptr noalias align 64 %y, ptr noalias align 64 %scratch, i32 %tid, i32 %nthreads) #0 {
entry:
	%acc = alloca [16 x i32], align 64
	%0 = udiv i32 2, %nthreads
	%1 = mul i32 %0, %nthreads
	%2 = sub i32 2, %1
	%3 = mul i32 %tid, %0
	%4 = call i32 @llvm.umin.i32(i32 %tid, i32 %2)
	%5 = add i32 %3, %4
	%6 = icmp ult i32 %tid, %2
	%7 = zext i1 %6 to i32
	%8 = add i32 %5, %0
	%9 = add i32 %8, %7
	%10 = icmp ult i32 %5, %9
	br i1 %10, label %for.b, label %end.b

for.b:
	%b = phi i32 [ %5, %entry ], [ %52, %end.k ]
	%11 = zext i32 %b to i64
	store <8 x i32> splat (i32 0), ptr %acc, align 64
	%12 = getelementptr inbounds i32, ptr %acc, i32 8
	store <8 x i32> splat (i32 0), ptr %12, align 32
	br label %for.k

for.k:
	%k = phi i32 [ 0, %for.b ], [ %42, %for.k ]
	%13 = zext i32 %k to i64
	%14 = getelementptr inbounds i32, ptr %x, i32 %k
	%15 = load i32, ptr %14, align 4
	%16 = mul i32 %b, 24
	%17 = mul i32 %k, 8
	%18 = add i32 %16, %17
	%19 = getelementptr inbounds i32, ptr %w, i32 %18
	%20 = load <8 x i32>, ptr %19, align 32
	%21 = insertelement <8 x i32> poison, i32 %15, i64 0
	%22 = shufflevector <8 x i32> %21, <8 x i32> poison, <8 x i32> zeroinitializer
	%23 = xor <8 x i32> %22, %20
	%24 = call <8 x i32> @llvm.ctpop.v8i32(<8 x i32> %23)
	%25 = load <8 x i32>, ptr %acc, align 64
	%26 = call <8 x i32> @ripc_popcount_add_x8(<8 x i32> %25, <8 x i32> %23)
	store <8 x i32> %26, ptr %acc, align 64
	%27 = getelementptr inbounds i32, ptr %x, i32 %k
	%28 = getelementptr inbounds i32, ptr %27, i64 3
	%29 = load i32, ptr %28, align 4
	%30 = mul i32 %b, 24
	%31 = mul i32 %k, 8
	%32 = add i32 %30, %31
	%33 = getelementptr inbounds i32, ptr %w, i32 %32
	%34 = load <8 x i32>, ptr %33, align 32
	%35 = insertelement <8 x i32> poison, i32 %29, i64 0
	%36 = shufflevector <8 x i32> %35, <8 x i32> poison, <8 x i32> zeroinitializer
	%37 = xor <8 x i32> %36, %34
	%38 = call <8 x i32> @llvm.ctpop.v8i32(<8 x i32> %37)
	%39 = getelementptr inbounds i32, ptr %acc, i32 8
	%40 = load <8 x i32>, ptr %39, align 32
	%41 = call <8 x i32> @ripc_popcount_add_x8(<8 x i32> %40, <8 x i32> %37)
	store <8 x i32> %41, ptr %39, align 32
	%42 = add nuw nsw i32 %k, 1
	%43 = icmp ult i32 %42, 3
	br i1 %43, label %for.k, label %end.k, !llvm.loop !1

end.k:
	%44 = load <8 x i32>, ptr %acc, align 64
	%45 = mul i32 %b, 8
	%46 = getelementptr inbounds i32, ptr %y, i32 %45
	store <8 x i32> %44, ptr %46, align 32
	%47 = getelementptr inbounds i32, ptr %acc, i32 8
	%48 = load <8 x i32>, ptr %47, align 32
	%49 = mul i32 %b, 8
	%50 = getelementptr inbounds i32, ptr %y, i32 %49
	%51 = getelementptr inbounds i32, ptr %50, i64 16
	store <8 x i32> %48, ptr %51, align 32
	%52 = add nuw nsw i32 %b, 1
	%53 = icmp ult i32 %52, %9
	br i1 %53, label %for.b, label %end.b, !llvm.loop !2

end.b:
	br label %done

done:
	ret void
}

declare i32 @llvm.umin.i32(i32 %0, i32 %1)

declare <8 x i32> @llvm.ctpop.v8i32(<8 x i32> %0)

attributes #0 = { nounwind "no-builtins" "target-cpu"="cortex-a7" "target-features"="+vfp2,+vfp3,+d32,+vfp4,+neon,+hwdiv,+hwdiv-arm" "denormal-fp-math"="preserve-sign,preserve-sign" }

!0 = !{!"llvm.loop.unroll.disable"}
!1 = distinct !{!1, !0}
!2 = distinct !{!2, !0}

declare <16 x i8> @llvm.ctpop.v16i8(<16 x i8>)
declare <8 x i16> @llvm.arm.neon.vpaddlu.v8i16.v16i8(<16 x i8>)
declare <4 x i32> @llvm.arm.neon.vpadalu.v4i32.v8i16(<4 x i32>, <8 x i16>)
define internal <8 x i32> @ripc_popcount_add_x8(<8 x i32> %acc, <8 x i32> %x) alwaysinline nounwind {
  %x0 = shufflevector <8 x i32> %x, <8 x i32> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %a0 = shufflevector <8 x i32> %acc, <8 x i32> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %b0 = bitcast <4 x i32> %x0 to <16 x i8>
  %c0 = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %b0)
  %h0 = call <8 x i16> @llvm.arm.neon.vpaddlu.v8i16.v16i8(<16 x i8> %c0)
  %s0 = call <4 x i32> @llvm.arm.neon.vpadalu.v4i32.v8i16(<4 x i32> %a0, <8 x i16> %h0)
  %x4 = shufflevector <8 x i32> %x, <8 x i32> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %a4 = shufflevector <8 x i32> %acc, <8 x i32> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %b4 = bitcast <4 x i32> %x4 to <16 x i8>
  %c4 = call <16 x i8> @llvm.ctpop.v16i8(<16 x i8> %b4)
  %h4 = call <8 x i16> @llvm.arm.neon.vpaddlu.v8i16.v16i8(<16 x i8> %c4)
  %s4 = call <4 x i32> @llvm.arm.neon.vpadalu.v4i32.v8i16(<4 x i32> %a4, <8 x i16> %h4)
  %w4 = shufflevector <4 x i32> %s4, <4 x i32> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t4 = shufflevector <4 x i32> %s0, <4 x i32> %w4, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  ret <8 x i32> %t4
}
