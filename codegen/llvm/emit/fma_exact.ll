define internal preserve_allcc FLOAT @NAME_exact(FLOAT %a, FLOAT %b, FLOAT %c) cold noinline #0 {
entry:
  %x = fpext FLOAT %a to DOUBLE
  %y = fpext FLOAT %b to DOUBLE
  %z = fpext FLOAT %c to DOUBLE
  %p = fmul DOUBLE %x, %y
  %s0 = fadd DOUBLE %p, %z
  %t = fsub DOUBLE %s0, %p
  %back = fsub DOUBLE %s0, %t
  %ep = fsub DOUBLE %p, %back
  %ez = fsub DOUBLE %z, %t
  %e = fadd DOUBLE %ep, %ez
  %inexact = fcmp one DOUBLE %e, ZERO
SOME
  br i1 %some, label %rounded, label %end
rounded:
  %u = bitcast DOUBLE %s0 to INT
  %v = bitcast DOUBLE %e to INT
  %away = xor INT %u, %v
  %side = ashr INT %away, LAST
  %step = or INT %side, ONE
  %last = and INT %u, ONE
  %less = sub INT %last, ONE
  %even = and INT %step, %less
  %by = select BOOL %inexact, INT %even, INT zeroinitializer
  %o = add INT %u, %by
  %odd = bitcast INT %o to DOUBLE
  br label %end
end:
  %s = phi DOUBLE [ %s0, %entry ], [ %odd, %rounded ]
ROUND  ret FLOAT %r
}
