
// openKernels opens a network as kernels. It is like those of open, but run and runStage return promises.
async function openKernels({description, text, constants}) {
  const {name, target, stages, arena_bytes: arena} = description, at = plan(description, constants.length, 1);
  const begin = {input: k => at.ins[k], output: k => at.outs[k], const: k => k, arena: k => at.workspace + k};
  const launches = stages.map(s => {
    const places = [...s.reads, ...s.writes].map(t => begin[t.where](t.offset)).concat(at.workspace + arena);
    return s.launches.map(({kernel, blocks}) => ({kernel, blocks, places}));
  });
  const gpu = await openGPU(text, [...new Set(launches.flat().map(l => l.kernel))], at.end);
  gpu.write(0, constants);
  const tensor = t => ({name: t.label ?? t.name, dtype: t.dtype, shape: t.shape,
    data: new types[t.dtype](size(t) / types[t.dtype].BYTES_PER_ELEMENT)});
  const inputs = description.inputs.map(tensor), outputs = description.outputs.map(tensor);
  const bytes = ({data}) => new Uint8Array(data.buffer);
  return {
    name, target, description, threads: 0, inputs, outputs,
    stages: stages.map(({name, op, macs}) => ({name, op, macs})),
    async run() {
      inputs.forEach((t, k) => gpu.write(at.ins[k], bytes(t)));
      await gpu.run(launches.flat());
      for (const [k, t] of outputs.entries()) bytes(t).set(await gpu.read(at.outs[k], t.data.byteLength));
    },
    runStage: k => gpu.run(launches[k]),
    close() {},
  };
}

// sameBits runs two networks on some numbers, and compares their outputs.
async function sameBits(a, b) {
  for (const net of [a, b]) {
    net.inputs.forEach((t, i) => {
      const {bits, packed} = net.description.inputs[i];
      const number = k => (k * 7919 + 13) % 251;
      t.data.forEach((_, k) => { t.data[k] = packed ? 0 : bits ? number(k) % 2 ** bits : t.dtype === "f32" ? number(k) / 251 : number(k); });
    });
    await net.run();
    net.inputs.forEach(t => t.data.fill(0));
  }
  const all = net => net.outputs.flatMap(({data}) => [...new Uint8Array(data.buffer, data.byteOffset, data.byteLength)]);
  const want = all(a);
  return all(b).every((v, k) => v === want[k]);
}
