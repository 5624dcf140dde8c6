target triple = "x86_64-unknown-linux-gnu"

define hidden void @pack(ptr noalias align 64 readonly %x, ptr noalias align 64 %y, ptr noalias align 64 %scratch, i32 %tid, i32 %nthreads) #0 {
entry:
	%0 = icmp eq i32 %tid, 0
	br i1 %0, label %run, label %done

run:
	br label %for.i

for.i:
	%i = phi i64 [ 0, %run ], [ %16, %for.i ]
	%1 = getelementptr inbounds i32, ptr %y, i64 %i
	store i32 0, ptr %1, align 4
	%2 = mul i64 %i, 32
	%3 = getelementptr inbounds i32, ptr %x, i64 %2
	%4 = load <32 x i32>, ptr %3, align 64
	%5 = icmp sge <32 x i32> %4, splat (i32 0)
	%6 = shufflevector <32 x i1> %5, <32 x i1> zeroinitializer, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
	%7 = bitcast <16 x i1> %6 to i16
	%8 = shufflevector <32 x i1> %5, <32 x i1> zeroinitializer, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
	%9 = bitcast <16 x i1> %8 to i16
	%10 = getelementptr inbounds i32, ptr %y, i64 %i
	%11 = load i16, ptr %10, align 2
	%12 = or i16 %11, %7
	store volatile i16 %12, ptr %10, align 2
	%13 = getelementptr inbounds i16, ptr %10, i64 1
	%14 = load i16, ptr %13, align 2
	%15 = or i16 %14, %9
	store volatile i16 %15, ptr %13, align 2
	%16 = add nuw nsw i64 %i, 1
	%17 = icmp ult i64 %16, 2
	br i1 %17, label %for.i, label %end.i, !llvm.loop !1

end.i:
	br label %done

done:
	ret void
}

attributes #0 = { nounwind "no-builtins" "target-cpu"="x86-64" "target-features"="+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+bmi,+bmi2,+f16c,+avx512f,+avx512bw,+avx512dq,+avx512vl,+avx512cd,+fast-variable-crosslane-shuffle,+fast-variable-perlane-shuffle" "denormal-fp-math"="preserve-sign,preserve-sign" "prefer-vector-width"="512" "min-legal-vector-width"="0" }

!0 = !{!"llvm.loop.unroll.disable"}
!1 = distinct !{!1, !0}
