target triple = "x86_64-unknown-linux-gnu"

define hidden void @padded(ptr noalias align 64 readonly %x, ptr noalias align 64 %y, ptr noalias align 64 %scratch, i32 %tid, i32 %nthreads) #0 {
entry:
	%0 = zext i32 %nthreads to i64
	%1 = zext i32 %tid to i64
	%2 = mul i64 %1, 8
	%3 = udiv i64 %2, %0
	%4 = add i64 %1, 1
	%5 = mul i64 %4, 8
	%6 = udiv i64 %5, %0
	%7 = icmp ult i64 %3, %6
	br i1 %7, label %for.i, label %end.i

for.i:
	%i = phi i64 [ %3, %entry ], [ %24, %end.k ]
	%8 = getelementptr inbounds float, ptr %y, i64 %i
	store float 0x0000000000000000, ptr %8, align 4
	br label %for.k

for.k:
	%k = phi i64 [ 0, %for.i ], [ %22, %select.end ]
	%9 = add i64 %i, %k
	%10 = sub i64 %9, 1
	%11 = icmp sge i64 %10, 0
	%12 = icmp slt i64 %10, 8
	%13 = and i1 %11, %12
	br i1 %13, label %select.a, label %select.b

select.a:
	%14 = add i64 %i, %k
	%15 = add i64 %14, -1
	%16 = getelementptr inbounds float, ptr %x, i64 %15
	%17 = load float, ptr %16, align 4
	br label %select.end

select.b:
	br label %select.end

select.end:
	%18 = phi float [ %17, %select.a ], [ 0x0000000000000000, %select.b ]
	%19 = getelementptr inbounds float, ptr %y, i64 %i
	%20 = load float, ptr %19, align 4
	%21 = fadd float %20, %18
	store float %21, ptr %19, align 4
	%22 = add nuw nsw i64 %k, 1
	%23 = icmp ult i64 %22, 3
	br i1 %23, label %for.k, label %end.k, !llvm.loop !1

end.k:
	%24 = add nuw nsw i64 %i, 1
	%25 = icmp ult i64 %24, %6
	br i1 %25, label %for.i, label %end.i, !llvm.loop !2

end.i:
	br label %done

done:
	ret void
}

attributes #0 = { nounwind "no-builtins" "target-cpu"="x86-64" "target-features"="+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+bmi,+bmi2,+f16c,+fast-variable-crosslane-shuffle,+fast-variable-perlane-shuffle" "denormal-fp-math"="preserve-sign,preserve-sign" }

!0 = !{!"llvm.loop.unroll.disable"}
!1 = distinct !{!1, !0}
!2 = distinct !{!2, !0}
