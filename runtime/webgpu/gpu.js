// Runs kernels in WGSL on one piece of a GPU's memory. Nothing here depends on the network.

const maxGrid = 65535; // blocks in a dimension of a grid
const whole = bytes => Math.ceil(bytes / 4) * 4; // words

// openGPU has size bytes of memory, and the kernels called names of text.
async function openGPU(text, names, size) {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("the browser has no WebGPU");
  const {maxStorageBufferBindingSize, maxBufferSize} = adapter.limits;
  if (size > maxStorageBufferBindingSize) {
    throw new Error(`the network takes ${size} bytes, and a buffer has ${maxStorageBufferBindingSize}`);
  }
  const device = await adapter.requestDevice({requiredLimits: {maxStorageBufferBindingSize, maxBufferSize}});
  let failed;
  device.lost.then(({message}) => { failed = new Error(`the GPU is gone: ${message}`); });
  device.addEventListener("uncapturederror", ({error}) => { failed ??= new Error(error.message); });
  const check = () => { if (failed) throw failed; };

  const module = device.createShaderModule({code: text});
  const wrong = (await module.getCompilationInfo()).messages.filter(m => m.type === "error");
  if (wrong.length > 0) throw new Error(wrong.map(m => `${m.lineNum}:${m.linePos}: ${m.message}`).join("\n"));
  const visibility = GPUShaderStage.COMPUTE;
  const layout = device.createBindGroupLayout({entries: [
    {binding: 0, visibility, buffer: {type: "storage"}}, {binding: 1, visibility, buffer: {type: "uniform"}}]});
  const pipelineLayout = device.createPipelineLayout({bindGroupLayouts: [layout]}), pipelines = new Map();
  await Promise.all(names.map(async entryPoint => pipelines.set(entryPoint,
    await device.createComputePipelineAsync({layout: pipelineLayout, compute: {module, entryPoint}}))));
  const {STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ} = GPUBufferUsage;
  const memory = device.createBuffer({size: whole(Math.max(size, 4)), usage: STORAGE | COPY_SRC | COPY_DST});
  const groups = new Map();

  // group is the arguments of a kernel: where they begin in memory.
  function group(places) {
    const key = places.join();
    if (!groups.has(key)) {
      const buffer = device.createBuffer({size: 256, usage: UNIFORM | COPY_DST});
      device.queue.writeBuffer(buffer, 0, new Uint32Array([0, ...places]));
      groups.set(key, device.createBindGroup({layout,
        entries: [{binding: 0, resource: {buffer: memory}}, {binding: 1, resource: {buffer}}]}));
    }
    return groups.get(key);
  }
  return {
    // write brings bytes to memory. Up to three bytes behind them change.
    write(at, bytes) {
      const padded = new Uint8Array(whole(bytes.byteLength));
      padded.set(bytes);
      device.queue.writeBuffer(memory, at, padded);
      check();
    },
    async read(at, size) {
      const copy = device.createBuffer({size: whole(size), usage: MAP_READ | COPY_DST});
      const encoder = device.createCommandEncoder();
      encoder.copyBufferToBuffer(memory, at, copy, 0, whole(size));
      device.queue.submit([encoder.finish()]);
      await copy.mapAsync(GPUMapMode.READ);
      const bytes = new Uint8Array(copy.getMappedRange()).slice(0, size);
      copy.destroy();
      check();
      return bytes;
    },
    // run runs kernels, each when the one before is done, and returns the milliseconds that it took.
    async run(launches) {
      const begin = performance.now(), encoder = device.createCommandEncoder(), pass = encoder.beginComputePass();
      for (const {kernel, blocks, places} of launches) {
        pass.setPipeline(pipelines.get(kernel));
        pass.setBindGroup(0, group(places));
        pass.dispatchWorkgroups(Math.min(blocks, maxGrid), Math.ceil(blocks / maxGrid));
      }
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      check();
      return performance.now() - begin;
    },
  };
}
