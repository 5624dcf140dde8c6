target triple = "armv7-unknown-linux-gnueabihf"

define hidden void @padded(ptr noalias align 64 readonly %x, ptr noalias align 64 %y, ptr noalias align 64 %scratch, i32 %tid, i32 %nthreads) #0 {
entry:
	%0 = udiv i32 8, %nthreads
	%1 = mul i32 %0, %nthreads
	%2 = sub i32 8, %1
	%3 = mul i32 %tid, %0
	%4 = call i32 @llvm.umin.i32(i32 %tid, i32 %2)
	%5 = add i32 %3, %4
	%6 = icmp ult i32 %tid, %2
	%7 = zext i1 %6 to i32
	%8 = add i32 %5, %0
	%9 = add i32 %8, %7
	%10 = icmp ult i32 %5, %9
	br i1 %10, label %for.i, label %end.i

for.i:
	%i = phi i32 [ %5, %entry ], [ %31, %end.k ]
	%11 = zext i32 %i to i64
	%12 = getelementptr inbounds float, ptr %y, i32 %i
	store float 0x0000000000000000, ptr %12, align 4
	br label %for.k

for.k:
	%k = phi i32 [ 0, %for.i ], [ %29, %select.end ]
	%13 = zext i32 %k to i64
	%14 = add i32 %i, %k
	%15 = add i32 %14, -1
	%16 = icmp sge i32 %15, 0
	%17 = add i32 %i, %k
	%18 = add i32 %17, -1
	%19 = icmp slt i32 %18, 8
	%20 = and i1 %16, %19
	br i1 %20, label %select.a, label %select.b

select.a:
	%21 = add i32 %i, %k
	%22 = add i32 %21, -1
	%23 = getelementptr inbounds float, ptr %x, i32 %22
	%24 = load float, ptr %23, align 4
	br label %select.end

select.b:
	br label %select.end

select.end:
	%25 = phi float [ %24, %select.a ], [ 0x0000000000000000, %select.b ]
	%26 = getelementptr inbounds float, ptr %y, i32 %i
	%27 = load float, ptr %26, align 4
	%28 = fadd float %27, %25
	store float %28, ptr %26, align 4
	%29 = add nuw nsw i32 %k, 1
	%30 = icmp ult i32 %29, 3
	br i1 %30, label %for.k, label %end.k, !llvm.loop !1

end.k:
	%31 = add nuw nsw i32 %i, 1
	%32 = icmp ult i32 %31, %9
	br i1 %32, label %for.i, label %end.i, !llvm.loop !2

end.i:
	br label %done

done:
	ret void
}

declare i32 @llvm.umin.i32(i32 %0, i32 %1)

attributes #0 = { nounwind "no-builtins" "target-cpu"="cortex-a7" "target-features"="+vfp2,+vfp3,+d32,+vfp4,+neon,+hwdiv,+hwdiv-arm" "denormal-fp-math"="preserve-sign,preserve-sign" }

!0 = !{!"llvm.loop.unroll.disable"}
!1 = distinct !{!1, !0}
!2 = distinct !{!2, !0}
