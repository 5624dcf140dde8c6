define internal FLOAT @NAME(FLOAT %a, FLOAT %b, FLOAT %c, ptr %noted) alwaysinline nounwind {
  %x = fpext FLOAT %a to DOUBLE
  %y = fpext FLOAT %b to DOUBLE
  %z = fpext FLOAT %c to DOUBLE
  %p = fmul DOUBLE %x, %y
  %s = fadd DOUBLE %p, %z
TIES
ROUND  ret FLOAT %r
}
