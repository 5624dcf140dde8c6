import {open} from "./run.js";

const files = FILES; // the fastest first

async function read(file) {
  const url = new URL(file, import.meta.url);
  if (url.protocol === "file:") return (await import("node:fs/promises")).readFile(url);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer.arrayBuffer();
}

export const load = () => open(files.map(file => () => read(file)));
