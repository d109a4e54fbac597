// The page's worker: unpacks the program where it has not been, runs it once on the files it is given, and says how far it is.

// Files are read while the program waits: it knows no other way.
const reader = new FileReaderSync();

function asInput(file) {
  const slice = (from, to) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to)));
  return { size: file.size, modified: file.lastModified ?? 0, slice };
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
    const done = runProgram(module, words, inputs, (name, end) => postMessage({ name, end }));
    postMessage({ done });
  } catch (error) {
    postMessage({ done: { trap: String(error), said: "", outputs: new Map() } });
  }
};
