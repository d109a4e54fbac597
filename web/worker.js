// The page's worker: unpacks the program where it has not been, runs it once on the files it is given, and says how far it is.

// What the browser has ready at a time is less.
const STREAM_BYTES = 1 << 19;

// A program that cannot wait reads while everything waits. Each slice is another copy in memory until the browser thinks of it.
const reader = new FileReaderSync();
const sliceOf = (file) => (from, to) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to)));

// The file as a stream that the browser fills while the program computes. Each piece comes into the memory of the one before.
const streamOf = (file) => (at) => {
  const stream = file.slice(at).stream().getReader({ mode: "byob" });
  let memory = new ArrayBuffer(STREAM_BYTES);
  const next = async () => {
    const { value } = await stream.read(new Uint8Array(memory));
    memory = value.buffer;
    return value;
  };
  next.end = () => stream.cancel();
  return next;
};

function asInput(file) {
  const readFrom = canWait ? streamOf(file) : inSlices(file.size, sliceOf(file));
  return { size: file.size, modified: file.lastModified ?? 0, readFrom };
}

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

onmessage = async ({ data: { module, packed, words, files } }) => {
  try {
    if (!module) {
      module = await unpacked(packed);
      postMessage({ module });
    }
    const inputs = new Map(files.map(({ name, file }) => [name, asInput(file)]));
    const done = await runProgram(module, words, inputs, (name, end) => postMessage({ name, end }));
    postMessage({ done });
  } catch (error) {
    postMessage({ done: { trap: String(error), said: "", outputs: new Map() } });
  }
};
