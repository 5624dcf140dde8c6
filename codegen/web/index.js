import {open, startInNode} from "./run.js";

const targets = TARGETS; // the fastest first
const isNode = Boolean(globalThis.process?.versions?.node);

async function read(file) {
  const url = new URL(file, import.meta.url);
  if (url.protocol === "file:") return (await import("node:fs/promises")).readFile(url);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.arrayBuffer();
}

async function startWorkers(messages, tell) {
  const script = new URL("./worker.js", import.meta.url);
  if (isNode) return startInNode(script, messages, tell);
  let starting = messages.length;
  return messages.map(message => {
    const worker = new Worker(script, {type: "module"});
    worker.onmessage = ({data: why}) => { if (why || !--starting) tell(why); };
    worker.onerror = event => tell(event.message || `${script} cannot be loaded`);
    worker.postMessage(message);
    return worker;
  });
}

export const load = ({threads = 1} = {}) => {
  if (!Number.isInteger(threads) || threads < 1 || threads > 256) {
    throw new RangeError(`threads: ${threads} is no whole number from 1 to 256`);
  }
  if (threads > 1 && !isNode && !globalThis.crossOriginIsolated) {
    console.warn("the page is not cross-origin isolated, so its networks have one thread");
    threads = 1;
  }
  return open(targets.map(t => [t, () => read(threads > 1 ? `${t}.threads.wasm` : `${t}.wasm`)]), threads, startWorkers);
};
