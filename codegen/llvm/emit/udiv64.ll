define internal i64 @ripc_udiv64(i64 %n, i64 %d) noinline nounwind {
entry:
  br label %bit

bit:
  %i = phi i32 [ 0, %entry ], [ %i1, %bit ]
  %left = phi i64 [ %n, %entry ], [ %left1, %bit ]
  %r = phi i64 [ 0, %entry ], [ %r1, %bit ]
  %q = phi i64 [ 0, %entry ], [ %q1, %bit ]
  %carry = icmp slt i64 %r, 0
  %top = lshr i64 %left, 63
  %left1 = shl i64 %left, 1
  %r.2 = shl i64 %r, 1
  %r.in = or i64 %r.2, %top
  %fits = icmp uge i64 %r.in, %d
  %one = or i1 %carry, %fits
  %r.less = sub i64 %r.in, %d
  %r1 = select i1 %one, i64 %r.less, i64 %r.in
  %q.2 = shl i64 %q, 1
  %q.bit = zext i1 %one to i64
  %q1 = or i64 %q.2, %q.bit
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, 64
  br i1 %more, label %bit, label %end

end:
  ret i64 %q1
}
