define internal FLOAT @NAME(FLOAT %a, FLOAT %b, FLOAT %c) alwaysinline nounwind {
  %x = fpext FLOAT %a to DOUBLE
  %y = fpext FLOAT %b to DOUBLE
  %z = fpext FLOAT %c to DOUBLE
  %p = fmul DOUBLE %x, %y
  %s = fadd DOUBLE %p, %z
TIES
  br i1 %tie, label %exact, label %usual
usual:
ROUND  br label %end
exact:
EXACT  br label %end
end:
  %f = phi FLOAT [ %r, %usual ], [ RESULT, %exact ]
  ret FLOAT %f
}
