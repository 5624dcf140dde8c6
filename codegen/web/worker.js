// A thread of a network beside the one that called load.

async function work({module, memory, name, args, orders, stack}, ready) {
  const code = (await WebAssembly.instantiate(module, {env: {memory}})).exports;
  code.__stack_pointer.value = stack; // otherwise all threads have one stack
  const order = new Int32Array(memory.buffer, orders, 4);
  ready();
  for (let run = 0; ; run = run + 1 | 0) {
    Atomics.wait(order, 0, run);
    code[`${name}_run_stages`](...args, order[1], order[2]); // its status is that of the first thread's call
    Atomics.add(order, 3, 1);
  }
}

if (globalThis.process?.versions?.node) {
  const {parentPort} = await import("node:worker_threads");
  parentPort.once("message", start => work(start, () => parentPort.postMessage("ready")));
} else {
  onmessage = event => work(event.data, () => postMessage("ready"));
}
