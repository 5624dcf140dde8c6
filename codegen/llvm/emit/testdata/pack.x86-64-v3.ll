target triple = "x86_64-unknown-linux-gnu"

define hidden void @pack(ptr noalias align 64 readonly %x, ptr noalias align 64 %y, ptr noalias align 64 %scratch, i32 %tid, i32 %nthreads) #0 {
entry:
	%0 = icmp eq i32 %tid, 0
	br i1 %0, label %run, label %done

run:
	br label %for.i

for.i:
	%i = phi i64 [ 0, %run ], [ %10, %for.i ]
	%1 = getelementptr inbounds i32, ptr %y, i64 %i
	store i32 0, ptr %1, align 4
	%2 = mul i64 %i, 32
	%3 = getelementptr inbounds i32, ptr %x, i64 %2
	%4 = load <32 x i32>, ptr %3, align 64
	%5 = icmp sge <32 x i32> %4, splat (i32 0)
	%6 = bitcast <32 x i1> %5 to i32
	%7 = getelementptr inbounds i32, ptr %y, i64 %i
	%8 = load i32, ptr %7, align 4
	%9 = or i32 %8, %6
	store i32 %9, ptr %7, align 4
	%10 = add nuw nsw i64 %i, 1
	%11 = icmp ult i64 %10, 2
	br i1 %11, label %for.i, label %end.i, !llvm.loop !1

end.i:
	br label %done

done:
	ret void
}

attributes #0 = { nounwind "no-builtins" "target-cpu"="x86-64" "target-features"="+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+bmi,+bmi2,+f16c,+fast-variable-crosslane-shuffle,+fast-variable-perlane-shuffle" "denormal-fp-math"="preserve-sign,preserve-sign" }

!0 = !{!"llvm.loop.unroll.disable"}
!1 = distinct !{!1, !0}
