// A thread of a network beside the one that called load.

async function work({module, memory, name, args, order, reason, gate, claims, stack}, tell) {
  const code = (await WebAssembly.instantiate(module, {env: {memory}})).exports;
  code.__stack_pointer.value = stack; // otherwise all threads have one stack
  tell("");
  for (let run = 0; ; run = run + 1 | 0) {
    Atomics.wait(order, 0, run);
    try {
      code[`${name}_run_stages`](...args, order[1], order[2]); // its status is that of the first thread's call
    } catch (error) { // the others would wait for this thread's unit, so the stage behind the last one opens
      reason.set(new TextEncoder().encode(`thread ${args[3]}: ${error}`).subarray(0, reason.length - 1));
      Atomics.store(claims, 0, order[2] << 16);
      Atomics.add(gate, 0, 1);
      Atomics.notify(gate, 0);
    }
    Atomics.add(order, 3, 1);
  }
}

const listen = (message, tell) => work(message, tell).catch(error => tell(String(error)));
if (globalThis.process?.versions?.node) {
  const {parentPort} = await import("node:worker_threads");
  parentPort.once("message", message => listen(message, why => parentPort.postMessage(why)));
} else {
  onmessage = event => listen(event.data, why => postMessage(why));
}
