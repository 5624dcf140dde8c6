// Runs a network that ripc compiled to WebAssembly. Nothing here depends on the network.

const types = {
  f32: Float32Array, i32: Int32Array, u32: Uint32Array, i16: Int16Array, u8: Uint8Array, i8: Int8Array,
};
const align = 64; // of buffers, in bytes
const page = 65536; // of a module's memory, and the size of a stack
const syncBytes = SYNC_BYTES; // of ripc_sync
const gateAt = GATE, claimsAt = CLAIMS; // of words in ripc_sync
const sealBytes = SEAL_BYTES; // behind the description in its section
const orderBytes = 256; // of a team's orders, with the reason of a failure behind the first 16
const roundUp = n => Math.ceil(n / align) * align;

// RefusedError is of a module that loads, but that this machine cannot run.
class RefusedError extends Error {}

// open starts the first module that this machine can run. Each is a name and a function that returns bytes, or a promise
// of them. Modules for several threads import their memory. startWorkers starts a worker by worker.js for each message. It calls
// a function with "" once all of them wait for orders, or with the reason why one has ended, and returns what ends them.
export async function open(modules, threads = 1, startWorkers) {
  const [[target, read], ...others] = modules;
  try {
    return await start(await read(), threads, startWorkers);
  } catch (error) {
    if (!others.length || !(error instanceof WebAssembly.CompileError || error instanceof RefusedError)) throw error;
    console.warn(`the module ${target} is refused: ${error.message}`);
    return open(others, threads, startWorkers);
  }
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
    sync: threads > 1 ? take(syncBytes) : 0, orders: take(orderBytes),
    stacks: take((threads - 1) * page),
  };
  return {...places, end};
}

async function start(bytes, threads, startWorkers) {
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
  if (code[`${name}_cpu_ok`]() !== 1) throw new RefusedError(`this machine cannot run code for ${description.target}; all run that for wasm32`);
  const at = plan(description, code.__heap_base.value, threads);
  const memory = shared ?? code.memory, missing = at.end - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / page));
  const {buffer} = memory;
  new Uint32Array(buffer, at.inputArray, at.ins.length).set(at.ins);
  new Uint32Array(buffer, at.outputArray, at.outs.length).set(at.outs);
  const tensor = (t, at) => {
    const data = new types[t.dtype](buffer, at, size(t) / types[t.dtype].BYTES_PER_ELEMENT);
    return {name: t.label ?? t.name, dtype: t.dtype, shape: t.shape, data};
  };
  const check = status => {
    if (status !== 0) throw Object.assign(new Error(`${name}: status ${status}`), {status});
  };
  const args = [at.inputArray, at.outputArray, at.workspace, 0, threads, at.sync];
  const team = await gather(module, memory, code, name, args, at, startWorkers);
  const stages = description.stages.length;
  const run = (first, last) => check(team.run(first, last));
  return {
    name, target: description.target, description, threads,
    inputs: description.inputs.map((t, k) => tensor(t, at.ins[k])),
    outputs: description.outputs.map((t, k) => tensor(t, at.outs[k])),
    stages: description.stages.map(({name, op, macs}) => ({name, op, macs})),
    workspace: new Uint8Array(buffer, at.workspace, description.arena_bytes + threads * description.scratch_bytes),
    run: () => run(0, stages),
    runStage: k => run(k, k + 1),
    runStages: run,
    close: () => team.end("closed"),
  };
}

// startInNode starts a worker of Node by the script at a URL, which starts those for the messages; as startWorkers of open.
export async function startInNode(url, messages, tell) {
  const {Worker} = await import("node:worker_threads");
  const watcher = new Worker(url);
  watcher.on("error", error => tell(String(error))).on("exit", () => tell("its threads have ended")).on("message", why => {
    watcher.unref();
    tell(why);
  });
  watcher.postMessage(messages);
  return [watcher];
}

// gather starts the other threads. Each waits for orders: the number of the run, its first and last stage, and how many
// calls have returned. All calls of a run return before the next one begins, since they need equal arguments. A thread that
// fails writes the reason behind its orders, and nothing runs any more.
async function gather(module, memory, code, name, args, {orders, stacks, sync}, startWorkers) {
  const {buffer} = memory, reason = new Uint8Array(buffer, orders + 16, orderBytes - 16), workers = [];
  const words = (at, n) => new Int32Array(buffer, at, n), order = words(orders, 4);
  let called = 0, ended = "";
  const end = why => {
    ended ||= why;
    workers.forEach(w => w.terminate());
  };
  const check = () => {
    if (reason[0]) end(new TextDecoder().decode(reason.slice(0, reason.indexOf(0))));
    if (ended) throw new Error(`${name}: ${ended}`);
  };
  const messages = Array.from({length: args[4] - 1}, (_, k) => ({module, memory, name, order, reason,
    gate: words(sync + gateAt, 1), claims: words(sync + claimsAt, 1), stack: stacks + (k + 1) * page,
    args: args.map((a, i) => i === 3 ? k + 1 : a)}));
  if (messages.length) await new Promise((done, fail) => {
    const tell = why => {
      if (!why) return done();
      end(why);
      fail(new Error(`${name}: ${ended}`));
    };
    startWorkers(messages, tell).then(all => workers.push(...all), error => tell(String(error)));
  });
  return {
    end,
    run(first, last) {
      while (!ended && !Atomics.load(reason, 0) && Atomics.load(order, 3) < called); // a page must not sleep
      check();
      Atomics.store(order, 3, 0);
      order[1] = first;
      order[2] = last;
      called = messages.length;
      Atomics.add(order, 0, 1);
      Atomics.notify(order, 0);
      let status;
      try {
        status = code[`${name}_run_stages`](...args, first, last);
      } catch (error) {
        end(String(error));
      }
      check();
      return status;
    },
  };
}
