// Runs a module in Node: node -e ... MODULE THREADS. An order is two numbers of 32 bits, the stages from one to before
// the other, and all memory. The answer is the nanoseconds that they took, their status, each in 64 bits, and all memory.
import fs from "node:fs";

RUN
process.on("uncaughtException", error => {
  fs.writeSync(2, error.message);
  process.exit(1);
});
FLAGS
const [path, threads] = process.argv.slice(1);
const worker = new URL("data:text/javascript," + encodeURIComponent(WORKER));
const startWorkers = (messages, tell) => startInNode(worker, messages, tell);
const net = await open([[path, () => fs.readFileSync(path)]], Number(threads), startWorkers);
const memory = [...net.inputs, ...net.outputs].map(t => t.data).concat(net.workspace);
const pause = new Int32Array(new SharedArrayBuffer(4));
const transfer = (move, all) => {
  for (let done = 0; done < all.byteLength;) {
    try {
      const n = move(new Uint8Array(all.buffer, all.byteOffset + done, all.byteLength - done));
      if (n === 0) process.exit();
      done += n;
    } catch (error) { // a pipe that is full or empty
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
};
const read = all => transfer(bytes => fs.readSync(0, bytes), all), write = all => transfer(bytes => fs.writeSync(1, bytes), all);
const order = new Uint32Array(2);
for (write(new Uint8Array(1));;) {
  read(order);
  memory.forEach(read);
  const start = process.hrtime.bigint();
  let status = 0;
  try {
    net.runStages(order[0], order[1]);
  } catch (error) {
    if (!error.status) throw error;
    status = error.status;
  }
  write(new BigUint64Array([process.hrtime.bigint() - start, BigInt(status)]));
  memory.forEach(write);
}
