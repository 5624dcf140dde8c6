import v8 from "node:v8";
if (parseInt(process.versions.v8) < 12) { // relaxed SIMD is an experiment there, and Liftoff gets dot products wrong
  v8.setFlagsFromString("--experimental-wasm-relaxed-simd");
  v8.setFlagsFromString("--no-liftoff");
}
