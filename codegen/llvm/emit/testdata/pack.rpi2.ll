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
	%7 = bitcast <32 x i1> %6 to i32
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
