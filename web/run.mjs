// Runs the program of the page by node, in the folder where this is called, with its files: node web/run.mjs PROGRAM.wasm WORD…
// Tests and measurements use it; the page needs no node.
import fs from "node:fs";
import vm from "node:vm";

const [program, ...words] = process.argv.slice(2);
const here = new URL(".", import.meta.url);
const [runProgram, inSlices] = vm.runInThisContext(`${fs.readFileSync(new URL("wasi.js", here), "utf8")}\n[runProgram, inSlices]`);

const inputs = new Map();
for (const name of fs.readdirSync(".")) {
  const { size, mtimeMs } = fs.statSync(name);
  if (!fs.statSync(name).isFile()) continue;
  let file;
  const slice = (from, to) => {
    file ??= fs.openSync(name, "r");
    const bytes = new Uint8Array(to - from);
    return bytes.subarray(0, fs.readSync(file, bytes, 0, bytes.length, from));
  };
  inputs.set(name, { size, modified: mtimeMs, readFrom: inSlices(size, slice) });
}
const module = await WebAssembly.compile(fs.readFileSync(program));
const done = await runProgram(module, words, inputs, () => {});
process.stderr.write(done.said);
if (done.trap) console.error(done.trap);
if (process.env.SHOW_MEMORY) console.error(`${(done.memoryBytes / 2 ** 20).toFixed(0)} MiB of memory`);
for (const [name, blob] of done.outputs) fs.writeFileSync(name, Buffer.from(await blob.arrayBuffer()));
// All of it, before the process ends.
process.stdout.write(Buffer.from(await done.printed.arrayBuffer()), () => process.exit(done.trap ? 70 : done.status));
