target triple = "armv7-unknown-linux-gnueabihf"

define hidden void @pack(ptr noalias align 64 readonly %x, ptr noalias align 64 %y, ptr noalias align 64 %scratch, i32 %tid, i32 %nthreads) #0 {
entry:
	%0 = icmp eq i32 %tid, 0
	br i1 %0, label %run, label %done

run:
	br label %for.i

for.i:
	%i = phi i32 [ 0, %run ], [ %11, %for.i ]
	%1 = zext i32 %i to i64
	%2 = getelementptr inbounds i32, ptr %y, i32 %i
	store i32 0, ptr %2, align 4
	%3 = mul i32 %i, 32
	%4 = getelementptr inbounds i32, ptr %x, i32 %3
	%5 = load <32 x i32>, ptr %4, align 64
	%6 = icmp sge <32 x i32> %5, splat (i32 0)
	%7 = call i32 @ripc_mask_x32(<32 x i1> %6)
	%8 = getelementptr inbounds i32, ptr %y, i32 %i
	%9 = load i32, ptr %8, align 4
	%10 = or i32 %9, %7
	store i32 %10, ptr %8, align 4
	%11 = add nuw nsw i32 %i, 1
	%12 = icmp ult i32 %11, 2
	br i1 %12, label %for.i, label %end.i, !llvm.loop !1

end.i:
	br label %done

done:
	ret void
}

attributes #0 = { nounwind "no-builtins" "target-cpu"="cortex-a7" "target-features"="+vfp2,+vfp3,+d32,+vfp4,+neon,+hwdiv,+hwdiv-arm" "denormal-fp-math"="preserve-sign,preserve-sign" }

!0 = !{!"llvm.loop.unroll.disable"}
!1 = distinct !{!1, !0}

declare <8 x i8> @llvm.arm.neon.vpadd.v8i8(<8 x i8>, <8 x i8>)
define internal i32 @ripc_mask_x32(<32 x i1> %x) alwaysinline nounwind {
  %all = sext <32 x i1> %x to <32 x i8>
  %bits = and <32 x i8> %all, <i8 1, i8 2, i8 4, i8 8, i8 16, i8 32, i8 64, i8 -128, i8 1, i8 2, i8 4, i8 8, i8 16, i8 32, i8 64, i8 -128, i8 1, i8 2, i8 4, i8 8, i8 16, i8 32, i8 64, i8 -128, i8 1, i8 2, i8 4, i8 8, i8 16, i8 32, i8 64, i8 -128>
  %v0 = shufflevector <32 x i8> %bits, <32 x i8> poison, <8 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %v8 = shufflevector <32 x i8> %bits, <32 x i8> poison, <8 x i32> <i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %v16 = shufflevector <32 x i8> %bits, <32 x i8> poison, <8 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23>
  %v24 = shufflevector <32 x i8> %bits, <32 x i8> poison, <8 x i32> <i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %p0.0 = call <8 x i8> @llvm.arm.neon.vpadd.v8i8(<8 x i8> %v0, <8 x i8> %v8)
  %p0.2 = call <8 x i8> @llvm.arm.neon.vpadd.v8i8(<8 x i8> %v16, <8 x i8> %v24)
  %p1.0 = call <8 x i8> @llvm.arm.neon.vpadd.v8i8(<8 x i8> %p0.0, <8 x i8> %p0.2)
  %p2.0 = call <8 x i8> @llvm.arm.neon.vpadd.v8i8(<8 x i8> %p1.0, <8 x i8> %p1.0)
  %words = bitcast <8 x i8> %p2.0 to <2 x i32>
  %word = extractelement <2 x i32> %words, i32 0
  ret i32 %word
}
