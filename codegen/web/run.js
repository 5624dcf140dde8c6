// Runs a network that ripc compiled to WebAssembly. Nothing here depends on the network.

const types = {
  f32: Float32Array, i32: Int32Array, u32: Uint32Array, i16: Int16Array, u8: Uint8Array, i8: Int8Array,
};
const align = 64; // of buffers, in bytes
const page = 65536; // of a module's memory, and the size of a stack
const syncBytes = SYNC_BYTES; // of ripc_sync
const sealBytes = SEAL_BYTES; // behind the description in its section
const roundUp = n => Math.ceil(n / align) * align;

// open starts the first module that this machine can run. Each is a function that returns bytes, or a promise of them.
// Modules for several threads import their memory. startWorker starts a worker by worker.js, with a message.
export async function open(modules, threads = 1, startWorker) {
  let refused;
  for (const bytes of modules) {
    try {
      return await start(await bytes(), threads, startWorker);
    } catch (error) {
      refused = error;
    }
  }
  throw refused;
}

const size = t => t.shape.reduce((a, b) => a * b, types[t.dtype].BYTES_PER_ELEMENT);

// plan lays out the buffers behind a module's own memory, which ends at base.
function plan({inputs, outputs, arena_bytes, scratch_bytes}, base, threads) {
  let end = base;
  const take = bytes => {
    const at = roundUp(end);
    end = at + bytes;
    return at;
  };
  const places = {
    ins: inputs.map(t => take(size(t))), outs: outputs.map(t => take(size(t))),
    workspace: take(arena_bytes + threads * scratch_bytes),
    inputArray: take(4 * inputs.length), outputArray: take(4 * outputs.length),
    sync: threads > 1 ? take(syncBytes) : 0, orders: take(align),
    stacks: take((threads - 1) * page),
  };
  return {...places, end};
}

async function start(bytes, threads, startWorker) {
  const module = await WebAssembly.compile(bytes);
  const section = WebAssembly.Module.customSections(module, ".ripc.describe")[0];
  const compressed = new Blob([section.slice(0, -sealBytes)]).stream();
  const description = await new Response(compressed.pipeThrough(new DecompressionStream("deflate"))).json();
  const {name} = description;
  let shared;
  if (description.features.includes("atomics")) { // it cannot grow. The module's own part is its constants, which are in its bytes, and a stack
    const pages = Math.ceil((plan(description, bytes.byteLength + page, threads).end) / page) + 1;
    shared = new WebAssembly.Memory({initial: pages, maximum: pages, shared: true});
  }
  const code = (await WebAssembly.instantiate(module, {env: {memory: shared}})).exports;
  if (code[`${name}_cpu_ok`]() !== 1) throw new Error(`this machine cannot run code for ${description.target}; all run that for wasm32`);
  const at = plan(description, code.__heap_base.value, threads);
  const missing = at.end - (shared ?? code.memory).buffer.byteLength;
  if (missing > 0) code.memory.grow(Math.ceil(missing / page));
  const memory = (shared ?? code.memory).buffer;
  new Uint32Array(memory, at.inputArray, at.ins.length).set(at.ins);
  new Uint32Array(memory, at.outputArray, at.outs.length).set(at.outs);
  const tensor = (t, at) => {
    const data = new types[t.dtype](memory, at, size(t) / types[t.dtype].BYTES_PER_ELEMENT);
    return {name: t.label ?? t.name, dtype: t.dtype, shape: t.shape, data};
  };
  const check = status => {
    if (status !== 0) throw Object.assign(new Error(`${name}: status ${status}`), {status});
  };
  const args = [at.inputArray, at.outputArray, at.workspace, 0, threads, at.sync];
  const team = threads > 1 ? await gather(module, shared, name, args, at, startWorker) : {begin() {}, close() {}};
  const stages = description.stages.length;
  const run = (first, last) => {
    team.begin(first, last);
    check(code[`${name}_run_stages`](...args, first, last));
  };
  return {
    name, target: description.target, description, threads,
    inputs: description.inputs.map((t, k) => tensor(t, at.ins[k])),
    outputs: description.outputs.map((t, k) => tensor(t, at.outs[k])),
    stages: description.stages.map(({name, op, macs}) => ({name, op, macs})),
    workspace: new Uint8Array(memory, at.workspace, description.arena_bytes + threads * description.scratch_bytes),
    run: () => run(0, stages),
    runStage: k => run(k, k + 1),
    runStages: run,
    close: () => team.close(),
  };
}

// startInNode starts a worker of Node by the script at a URL, with a message.
export async function startInNode(url, message) {
  const {Worker} = await import("node:worker_threads");
  const worker = new Worker(url);
  const ready = new Promise((done, fail) => worker.once("message", done).once("error", fail));
  worker.postMessage(message);
  await ready;
  worker.unref();
  return worker;
}

// gather starts the other threads. Each waits for orders: the number of the run, its first and last stage, and how many
// calls have returned. All calls of a run return before the next one begins, since they need equal arguments.
async function gather(module, memory, name, args, {orders, stacks}, startWorker) {
  const order = new Int32Array(memory.buffer, orders, 4), workers = [];
  let called = 0;
  for (let tid = 1; tid < args[4]; tid++) {
    workers.push(await startWorker({module, memory, name, orders, stack: stacks + tid * page, tid,
      args: args.map((a, k) => k === 3 ? tid : a)}));
  }
  return {
    begin(first, last) {
      while (Atomics.load(order, 3) < called); // a page must not sleep
      Atomics.store(order, 3, 0);
      order[1] = first;
      order[2] = last;
      called = workers.length;
      Atomics.add(order, 0, 1);
      Atomics.notify(order, 0);
    },
    close: () => workers.forEach(w => w.terminate()),
  };
}
