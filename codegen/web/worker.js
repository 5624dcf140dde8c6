// A thread of a network beside the one that called load.

async function work(message, tell) {
  const {module, memory, name, args, order, stack} = message;
  const code = (await WebAssembly.instantiate(module, {env: {memory}})).exports;
  code.__stack_pointer.value = stack; // otherwise all threads have one stack
  tell("");
  for (let run = 0; ; run = run + 1 | 0) {
    Atomics.wait(order, 0, run);
    try {
      code[`${name}_run_stages`](...args, order[1], order[2]); // its status is that of the first thread's call
    } catch (error) {
      stop(message, `thread ${args[3]}: ${error}`);
    }
    Atomics.add(order, 3, 1);
  }
}

// stop lets the run of a thread that has ended fail. The others would wait for its unit, so the stage behind the last one opens.
function stop({order, reason, gate, claims}, why) {
  const last = reason.length - 1; // of two threads that fail at once, one writes
  if (!Atomics.exchange(reason, last, 1)) {
    const text = new TextEncoder().encode(why).subarray(0, last - 1);
    reason.set(text.subarray(1), 1);
    Atomics.store(reason, 0, text[0]);
  }
  if (!Atomics.load(reason, 0)) return; // who writes it opens the stage
  Atomics.store(claims, 0, order[2] << 16);
  Atomics.add(gate, 0, 1);
  Atomics.notify(gate, 0);
}

const listen = (message, tell) => work(message, tell).catch(error => tell(`thread ${message.args[3]}: ${error}`));
if (globalThis.process?.versions?.node) {
  const {parentPort, Worker} = await import("node:worker_threads");
  const tell = why => parentPort.postMessage(why);
  // A thread that waits in a run hears of no other's end. So one that does nothing else starts them all, and listens.
  const watch = messages => {
    let starting = messages.length;
    for (const message of messages) {
      const end = why => {
        tell(`thread ${message.args[3]}: ${why}`);
        setInterval(stop, 10, message, `thread ${message.args[3]}: ${why}`); // again, since a run may be about to begin
      };
      const worker = new Worker(new URL(import.meta.url));
      worker.on("error", error => end(String(error))).on("exit", () => end("it has ended"));
      worker.on("message", why => { if (why || !--starting) tell(why); });
      worker.postMessage(message);
    }
  };
  parentPort.once("message", message => Array.isArray(message) ? watch(message) : listen(message, tell));
} else {
  onmessage = event => listen(event.data, why => postMessage(why));
}
