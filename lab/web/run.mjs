// Measures packages of ripc and, if it is given, a model by onnxruntime-web, in turns, on one thread. Prints the least times
// in milliseconds.
import path from "node:path";
import {pathToFileURL} from "node:url";

FLAGS
const [rounds, own, model] = process.argv.slice(2);
const {load} = await import(pathToFileURL(path.resolve(own, "index.js")));
const net = await load();
net.inputs.forEach(t => t.data.forEach((_, k) => t.data[k] = (k * 7919 % 256) / 255));

let peer = async () => {};
if (model) {
  const ort = await import("onnxruntime-web");
  ort.env.wasm.numThreads = 1;
  const session = await ort.InferenceSession.create(model, {executionProviders: ["wasm"]});
  const {shape} = session.inputMetadata[0], n = shape.reduce((a, b) => a * b);
  const x = new ort.Tensor("float32", Float32Array.from({length: n}, (_, k) => (k * 7919 % 256) / 255), shape);
  peer = () => session.run({[session.inputNames[0]]: x});
}

const least = {network: Infinity, peer: Infinity, layers: net.stages.map(() => Infinity)};
const since = (begin, before) => Math.min(before, performance.now() - begin);
for (let round = 0; round < rounds; round++) {
  let begin = performance.now();
  net.run();
  least.network = since(begin, least.network);
  net.stages.forEach((_, k) => {
    begin = performance.now();
    net.runStage(k);
    least.layers[k] = since(begin, least.layers[k]);
  });
  begin = performance.now();
  await peer();
  least.peer = since(begin, least.peer);
}
const layers = {};
net.description.stages.forEach((s, k) => {
  const kind = s.layer?.kind ?? "glue";
  layers[kind] = (layers[kind] ?? 0) + least.layers[k];
});
console.log(JSON.stringify({target: net.target, network: least.network, kinds: layers, peer: model ? least.peer : 0}));
