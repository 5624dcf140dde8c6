define internal FLOAT @NAME(FLOAT %a, FLOAT %b, FLOAT %c) alwaysinline nounwind {
  %x = fpext FLOAT %a to DOUBLE
  %y = fpext FLOAT %b to DOUBLE
  %z = fpext FLOAT %c to DOUBLE
  %p = fmul DOUBLE %x, %y
  %s = fadd DOUBLE %p, %z
  %t = fsub DOUBLE %s, %p
  %back = fsub DOUBLE %s, %t
  %ep = fsub DOUBLE %p, %back
  %ez = fsub DOUBLE %z, %t
  %e = fadd DOUBLE %ep, %ez
  %inexact = fcmp one DOUBLE %e, ZERO
  %u = bitcast DOUBLE %s to INT
  %v = bitcast DOUBLE %e to INT
  %away = xor INT %u, %v
  %side = ashr INT %away, LAST
  %step = or INT %side, ONE
  %odd = and INT %u, ONE
  %less = sub INT %odd, ONE
  %even = and INT %step, %less
  %by = select BOOL %inexact, INT %even, INT zeroinitializer
  %o = add INT %u, %by
  %w = bitcast INT %o to DOUBLE
  %r = fptrunc DOUBLE %w to FLOAT
  ret FLOAT %r
}
