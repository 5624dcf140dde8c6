// Runs a network that ripc compiled to WebAssembly. Nothing here depends on the network.

const types = {
  f32: Float32Array, i32: Int32Array, u32: Uint32Array, i16: Int16Array, u8: Uint8Array, i8: Int8Array,
};
const align = 64; // of buffers, in bytes
const page = 65536; // of a module's memory

// open starts the first module that this machine can run. Each is a function that returns bytes, or a promise of them.
export async function open(modules) {
  let refused;
  for (const bytes of modules) {
    try {
      return await start(await WebAssembly.compile(await bytes()));
    } catch (error) {
      refused = error;
    }
  }
  throw refused;
}

async function start(module) {
  const section = new Uint8Array(WebAssembly.Module.customSections(module, ".ripc.describe")[0]);
  const description = JSON.parse(new TextDecoder().decode(section.subarray(0, section.indexOf(0))));
  const {name} = description;
  const code = (await WebAssembly.instantiate(module)).exports;
  if (code[`${name}_cpu_ok`]() !== 1) throw new Error(`this machine cannot run code for ${description.target}`);
  let top = code.__heap_base.value;
  const take = bytes => {
    const at = Math.ceil(top / align) * align;
    top = at + bytes;
    return at;
  };
  const size = t => t.shape.reduce((a, b) => a * b, types[t.dtype].BYTES_PER_ELEMENT);
  const ins = description.inputs.map(t => take(size(t)));
  const outs = description.outputs.map(t => take(size(t)));
  const workspace = take(code[`${name}_workspace_size`](1));
  const inputArray = take(4 * ins.length), outputArray = take(4 * outs.length);
  const missing = top - code.memory.buffer.byteLength;
  if (missing > 0) code.memory.grow(Math.ceil(missing / page));
  const memory = code.memory.buffer;
  new Uint32Array(memory, inputArray, ins.length).set(ins);
  new Uint32Array(memory, outputArray, outs.length).set(outs);
  const tensor = (t, at) => {
    const data = new types[t.dtype](memory, at, size(t) / types[t.dtype].BYTES_PER_ELEMENT);
    return {name: t.label ?? t.name, dtype: t.dtype, shape: t.shape, data};
  };
  const check = status => {
    if (status !== 0) throw new Error(`${name}: status ${status}`);
  };
  const args = [inputArray, outputArray, workspace, 0, 1, 0];
  return {
    name, target: description.target, description,
    inputs: description.inputs.map((t, k) => tensor(t, ins[k])),
    outputs: description.outputs.map((t, k) => tensor(t, outs[k])),
    stages: description.stages.map(({name, op, macs}) => ({name, op, macs})),
    run: () => check(code[`${name}_run`](...args)),
    runStage: k => check(code[`${name}_run_stages`](...args, k, k + 1)),
  };
}
