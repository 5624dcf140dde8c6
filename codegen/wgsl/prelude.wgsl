/* All buffers of the network lie in one piece of memory. A kernel that stores elements of 8 or 16 bits sees it as bytes. */
@group(0) @binding(0) var<storage, read_write> memory: array<u32>;
@group(0) @binding(0) var<storage, read_write> bytes: array<atomic<u32>>;
/* 0, then where each argument begins, in bytes. */
@group(0) @binding(1) var<uniform> places: array<vec4u, 16>;
var<private> none: u32; /* 0, but no compiler knows */

fn rc_float(x: u32) -> f32 { return bitcast<f32>(x + none); } /* compilers may not reassociate or fuse across it */
fn rc_bits(x: f32) -> u32 { return bitcast<u32>(x); }
fn rc_sealed(x: f32) -> f32 { return rc_float(rc_bits(x)); }
fn rc_magnitude(x: f32) -> u32 { return rc_bits(x) & 0x7fffffffu; }
fn rc_sign(x: f32) -> u32 { return rc_bits(x) & 0x80000000u; }
fn rc_abs(x: f32) -> f32 { return rc_float(rc_magnitude(x)); }
fn rc_neg(x: f32) -> f32 { return rc_float(rc_bits(x) ^ 0x80000000u); }

fn rc_load8(at: i32) -> u32 { return extractBits(memory[at >> 2u], u32(at & 3) * 8u, 8u); }
fn rc_load16(at: i32) -> u32 { return extractBits(memory[at >> 2u], u32(at & 2) * 8u, 16u); }
fn rc_shared_load8(at: i32) -> u32 { return extractBits(atomicLoad(&bytes[at >> 2u]), u32(at & 3) * 8u, 8u); }
fn rc_shared_load16(at: i32) -> u32 { return extractBits(atomicLoad(&bytes[at >> 2u]), u32(at & 2) * 8u, 16u); }
/* Other threads may store neighbours in the same word. */
fn rc_shared_store(at: i32, mask: u32, x: u32) {
  let shift = u32(at & 3) * 8u;
  atomicAnd(&bytes[at >> 2u], ~(mask << shift));
  atomicOr(&bytes[at >> 2u], (x & mask) << shift);
}

fn rc_div(a: i32, d: i32) -> i32 { return a / d - select(0, 1, a % d < 0); }
fn rc_mod(a: i32, d: i32) -> i32 { return a % d + select(0, d, a % d < 0); }
fn rc_truncs(x: f32, bound: f32, low: i32, high: i32) -> i32 {
  if (rc_magnitude(x) > 0x7f800000u) { return 0; }
  if (x < -bound) { return low; }
  if (x >= bound) { return high; }
  return i32(x);
}
fn rc_truncu(x: f32, bound: f32, high: u32) -> u32 {
  if (rc_magnitude(x) > 0x7f800000u || rc_sign(x) != 0u) { return 0u; }
  if (x >= bound) { return high; }
  return u32(x);
}

/* To the nearest, ties to even, which f32(x) need not be. */
fn rc_fromu(x: u32) -> f32 {
  if (x < 0x01000000u) { return f32(x); }
  let n = 8u - countLeadingZeros(x);
  let m = x >> n;
  let rest = x << (32u - n);
  return f32(m + select(0u, 1u, rest > 0x80000000u || (rest == 0x80000000u && m % 2u == 1u))) * f32(1u << n);
}
fn rc_fromi(x: i32) -> f32 { return rc_float(rc_bits(rc_fromu(u32(abs(x)))) | (u32(x) & 0x80000000u)); }

/* Zero of x's sign for a subnormal x. */
fn rc_flush(x: f32) -> f32 { return rc_float(select(rc_bits(x), rc_sign(x), (rc_bits(x) & 0x7f800000u) == 0u)); }
fn rc_fadd(a: f32, b: f32) -> f32 { return rc_flush(a + b); }
fn rc_fsub(a: f32, b: f32) -> f32 { return rc_flush(a - b); }
fn rc_fmin(a: f32, b: f32) -> f32 { return rc_float(select(rc_bits(b), rc_bits(a), a < b)); }
fn rc_fmax(a: f32, b: f32) -> f32 { return rc_float(select(rc_bits(b), rc_bits(a), a > b)); }
/* Devices may call NaN equal to anything. */
fn rc_fne(a: f32, b: f32) -> bool {
  return rc_magnitude(a) > 0x7f800000u || rc_magnitude(b) > 0x7f800000u || a < b || a > b;
}
/* x * 2^-64, or zero of x's sign if that is subnormal. */
fn rc_scaled(x: f32) -> f32 {
  if (abs(x) < 0x1p-62f) { return rc_float(rc_sign(x)); }
  return rc_sealed(x * 0x1p-64f);
}
/* Near 2^-126 the product is computed as if exponents had no end, whatever the device does with subnormals. */
fn rc_fmul(a: f32, b: f32) -> f32 {
  let r = rc_sealed(a * b);
  if (rc_magnitude(r) > 0x00800000u || a == 0.0f || b == 0.0f) { return r; }
  if (abs(a) < abs(b)) { return rc_scaled(rc_sealed(rc_sealed(a * 0x1p64f) * b)); }
  return rc_scaled(rc_sealed(a * rc_sealed(b * 0x1p64f)));
}
/* 64 bits (high in y) shifted right. The last bit says whether any bit was lost. */
fn rc_jam(x: vec2u, n: u32) -> vec2u {
  if (n == 0u) { return x; }
  if (n < 32u) { return vec2u((x.x >> n) | (x.y << (32u - n)) | select(0u, 1u, (x.x << (32u - n)) != 0u), x.y >> n); }
  let lost = x.x != 0u || (n > 32u && n < 64u && (x.y << (64u - n)) != 0u) || (n >= 64u && x.y != 0u);
  return vec2u(select(0u, x.y >> (n - 32u), n < 64u) | select(0u, 1u, lost), 0u);
}
/* Computed in integers: the language lets fma round twice. */
fn rc_fma(a: f32, b: f32, c: f32) -> f32 {
  let infinite = 0x7f800000u;
  if (rc_magnitude(a) >= infinite || rc_magnitude(b) >= infinite || a == 0.0f || b == 0.0f) { return rc_sealed(a * b) + c; }
  if (rc_magnitude(c) >= infinite) { return c; }
  if (c == 0.0f) { return rc_fmul(a, b); }
  let ma = (rc_bits(a) & 0x007fffffu) | 0x00800000u;
  let mb = (rc_bits(b) & 0x007fffffu) | 0x00800000u;
  let mid = (ma >> 16u) * (mb & 0xffffu) + (ma & 0xffffu) * (mb >> 16u);
  let low = (ma & 0xffffu) * (mb & 0xffffu);
  let sum = low + (mid << 16u);
  let high = (ma >> 16u) * (mb >> 16u) + (mid >> 16u) + select(0u, 1u, sum < low);
  /* The product and c are p and q / 2^62, with exponents of their own. */
  var p = vec2u(sum << 15u, (high << 15u) | (sum >> 17u));
  var q = vec2u(0u, ((rc_bits(c) & 0x007fffffu) | 0x00800000u) << 7u);
  let ep = i32(rc_magnitude(a) >> 23u) + i32(rc_magnitude(b) >> 23u) - 126;
  let ec = i32(rc_magnitude(c) >> 23u);
  p = rc_jam(p, u32(max(ec - ep, 0)));
  q = rc_jam(q, u32(max(ep - ec, 0)));
  var sign = rc_sign(a) ^ rc_sign(b);
  var x: vec2u;
  if (sign == rc_sign(c)) {
    x = p + q;
    x.y += select(0u, 1u, x.x < p.x);
  } else {
    if (p.y < q.y || (p.y == q.y && p.x < q.x)) {
      sign = rc_sign(c);
      x = q - p;
      x.y -= select(0u, 1u, q.x < p.x);
    } else {
      x = p - q;
      x.y -= select(0u, 1u, p.x < q.x);
    }
    if (x.x == 0u && x.y == 0u) { return 0.0f; }
  }
  let zeros = select(countLeadingZeros(x.y), 32u + countLeadingZeros(x.x), x.y == 0u);
  if (zeros >= 32u) {
    x = vec2u(0u, x.x << (zeros - 32u));
  } else if (zeros > 0u) {
    x = vec2u(x.x << zeros, (x.y << zeros) | (x.x >> (32u - zeros)));
  }
  var e = max(ep, ec) + 1 - i32(zeros);
  let rest = x.y & 255u;
  var m = x.y >> 8u;
  m += select(0u, 1u, rest > 128u || (rest == 128u && (x.x != 0u || m % 2u == 1u)));
  if (m == 0x01000000u) {
    m /= 2u;
    e += 1;
  }
  if (e >= 255) { return rc_float(sign | infinite); }
  if (e <= 0) { return rc_float(sign); }
  return rc_float(sign | (u32(e) << 23u) | (m & 0x007fffffu));
}
/* The quotient, digit by digit. */
fn rc_fdiv(a: f32, b: f32) -> f32 {
  let sign = rc_sign(a) ^ rc_sign(b);
  let x = rc_magnitude(a);
  let y = rc_magnitude(b);
  if (x > 0x7f800000u || y > 0x7f800000u || (x == y && (x == 0u || x == 0x7f800000u))) { return rc_float(0x7fc00000u); }
  if (x == 0x7f800000u || y == 0u) { return rc_float(sign | 0x7f800000u); }
  if (x == 0u || y == 0x7f800000u) { return rc_float(sign); }
  var e = i32(x >> 23u) - i32(y >> 23u) + 127;
  var n = (x & 0x007fffffu) | 0x00800000u;
  let d = (y & 0x007fffffu) | 0x00800000u;
  if (n < d) {
    n *= 2u;
    e -= 1;
  }
  var q = 0u; /* one bit more than the result has */
  for (var i = 0; i < 25; i++) {
    q *= 2u;
    if (n >= d) {
      n -= d;
      q += 1u;
    }
    n *= 2u;
  }
  q = q / 2u + (q & 1u & ((q / 2u) | select(0u, 1u, n != 0u)));
  if (q == 0x01000000u) {
    q /= 2u;
    e += 1;
  }
  if (e >= 255) { return rc_float(sign | 0x7f800000u); }
  if (e <= 0) { return rc_float(sign); }
  return rc_float(sign | (u32(e) << 23u) | (q & 0x007fffffu));
}
/* The square root, digit by digit. */
fn rc_sqrt(x: f32) -> f32 {
  let u = rc_bits(x);
  if ((u & 0x7fffffffu) == 0u || u == 0x7f800000u) { return x; }
  if (u > 0x7f800000u) { return rc_float(0x7fc00000u); }
  var e = i32(u >> 23u) - 127;
  var m = (u & 0x007fffffu) | 0x00800000u;
  if ((u >> 23u) % 2u == 0u) { /* e is odd */
    m *= 2u;
    e -= 1;
  }
  var root = 0u;
  var rest = 0u;
  for (var i = 24; i >= 0; i--) { /* two more bits of m * 2^25, one of the root */
    rest = rest * 4u;
    if (i > 12) {
      rest += (m >> u32(2 * i - 25)) & 3u;
    } else if (i == 12) {
      rest += (m & 1u) * 2u;
    }
    root *= 2u;
    if (rest > 2u * root) {
      rest -= 2u * root + 1u;
      root += 1u;
    }
  }
  return rc_float((u32(e / 2 + 127) << 23u) + ((root + 1u) / 2u - 0x00800000u));
}
fn rc_floor(x: f32) -> f32 {
  if (rc_magnitude(x) >= 0x4b000000u) { return x; } /* integral, infinite or NaN */
  var f = i32(x);
  if (f32(f) > x) { f -= 1; }
  return rc_float(rc_bits(f32(f)) | rc_sign(x));
}
fn rc_round_even(x: f32) -> f32 {
  if (rc_magnitude(x) >= 0x4b000000u) { return x; }
  let m = rc_abs(x);
  let f = i32(m);
  let rest = m - f32(f);
  let up = rest > 0.5f || (rest == 0.5f && f % 2 == 1);
  return rc_float(rc_bits(f32(f + select(0, 1, up))) | rc_sign(x));
}

