// A small system for the program: the calls of WASI preview 1 that it makes, over files that are read piece by piece and never as a
// whole. The page's worker and packaging/targets use it; each brings a way to read a file.
"use strict";

const [SUCCESS, BAD_DESCRIPTOR, EXISTS, FAILED, INVALID, IS_A_FOLDER, NOT_THERE, NO_SUCH_CALL, NOT_A_FOLDER, NOT_EMPTY, READ_ONLY] = [0, 8, 20, 29, 28, 31, 44, 52, 54, 55, 69];
const FOLDER = 3;
const REGULAR_FILE = 4;
// The folder of the program, relative and absolute. Descriptors 0 to 2 are the standard streams.
const ROOTS = [".", "/"];
const FIRST_ROOT = 3;
// The program reads a capture from one end to the other, in smaller pieces than a call to the browser is worth, or than a person sees
// the progress of.
const BLOCK_BYTES = 1 << 20;
// Bytes that a written file holds in memory before the browser may put them elsewhere.
const TAIL_BYTES = 16 << 20;
// More than this on standard error is no sentence for a person.
const MOST_SAID = 1 << 16;

// Whether this engine lets a program wait for a promise (JavaScript Promise Integration). Others read files while everything waits.
const canWait = typeof WebAssembly.Suspending === "function";

class Exit extends Error {
  constructor(status) {
    super(`the program ended with ${status}`);
    this.status = status;
  }
}

// Output of the program: blobs, and behind them the bytes that came last.
class Written {
  constructor() {
    this.blobs = [];
    this.before = 0;
    this.tail = [];
    this.tailBytes = 0;
  }

  get size() {
    return this.before + this.tailBytes;
  }

  blob() {
    return new Blob([...this.blobs, ...this.tail]);
  }

  // False where bytes that are a blob already would have to change.
  write(bytes, at) {
    if (at === this.size) {
      this.tail.push(bytes.slice());
      this.tailBytes += bytes.length;
      if (this.tailBytes >= TAIL_BYTES) {
        this.blobs.push(new Blob(this.tail));
        this.before += this.tailBytes;
        this.tail = [];
        this.tailBytes = 0;
      }
      return true;
    }
    if (at < this.before) return false;
    this.resize(Math.max(this.size, at + bytes.length));
    this.tail[0].set(bytes, at - this.before);
    return true;
  }

  // The tail becomes one piece that ends at `size`.
  resize(size) {
    if (size < this.before) return false;
    const whole = new Uint8Array(size - this.before);
    let at = 0;
    for (const piece of this.tail) {
      whole.set(piece.subarray(0, Math.max(0, whole.length - at)), Math.min(at, whole.length));
      at += piece.length;
    }
    this.tail = [whole];
    this.tailBytes = whole.length;
    return true;
  }
}

// A way to read for `runProgram`, of what `slice(from, to)` gives: bytes of a file, at once.
const inSlices = (size, slice) => (at) => () => {
  const bytes = slice(at, Math.min(at + BLOCK_BYTES, size));
  at += bytes.length;
  return bytes;
};

// Runs the compiled program with `words` behind its name, in a folder that holds `inputs`: a map of names to
// `{ size, modified, readFrom(at) }`. `modified` is in milliseconds. `readFrom` gives a function that gives the next bytes each time, or a
// promise of them where the engine lets a program wait (`canWait`); its `end`, if it has one, says that no more are wanted. `onRead(name,
// end)` hears how far each was read. Gives a promise of the exit status, or the trap that ended it, what was said on standard error,
// standard output and the written files as blobs, and the bytes of memory it took.
async function runProgram(module, words, inputs, onRead) {
  const nodes = new Map([["", { type: FOLDER }]]);
  for (const [name, input] of inputs) nodes.set(name, { type: REGULAR_FILE, input });
  let numbered = 0;
  const number = (node) => (node.number ??= BigInt((numbered += 1)));

  const printed = new Written();
  const said = [];
  let saidBytes = 0;
  const say = (bytes) => {
    if (saidBytes < MOST_SAID) said.push(bytes.slice());
    saidBytes += bytes.length;
  };
  const stream = (write) => ({ write });
  const open = new Map([
    [0, stream(() => {})],
    [1, stream((bytes) => printed.write(bytes, printed.size))],
    [2, stream(say)],
  ]);
  ROOTS.forEach((_, i) => open.set(FIRST_ROOT + i, { path: "", node: nodes.get(""), at: 0 }));
  let nextDescriptor = FIRST_ROOT + ROOTS.length;

  let memory;
  // The memory's buffer is another one after it has grown.
  const view = () => new DataView(memory.buffer);
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const argv = ["rekeyscope", ...words].map((word) => encoder.encode(`${word}\0`));

  const pathAt = (descriptor, at, length) => {
    const parts = open.get(descriptor)?.path.split("/") ?? [];
    for (const part of decoder.decode(bytes(at, length)).split("/")) {
      if (part === "..") parts.pop();
      else if (part !== "" && part !== ".") parts.push(part);
    }
    return parts.filter(Boolean).join("/");
  };
  const parent = (path) => path.split("/").slice(0, -1).join("/");
  const inside = (path) => [...nodes.keys()].filter((name) => name !== "" && parent(name) === path);
  const sizeOf = (node) => node.input?.size ?? node.written?.size ?? 0;

  const writeStat = (node, at) => {
    const out = view();
    const modified = BigInt(Math.round(node.input?.modified ?? 0)) * 1_000_000n;
    out.setBigUint64(at, 1n, true);
    out.setBigUint64(at + 8, number(node), true);
    out.setBigUint64(at + 16, BigInt(node.type), true);
    out.setBigUint64(at + 24, 1n, true);
    out.setBigUint64(at + 32, BigInt(sizeOf(node)), true);
    [40, 48, 56].forEach((field) => out.setBigUint64(at + field, modified, true));
    return SUCCESS;
  };

  const bytesAt = (file) => {
    const ahead = file.at - file.pieceAt;
    return ahead >= 0 && ahead < file.piece?.length ? file.piece.subarray(ahead) : undefined;
  };
  // The next piece of an input is that from where the file stands. Gives a promise where it has to be waited for.
  const readPiece = (file) => {
    if (file.next === undefined || file.nextAt !== file.at) {
      file.next?.end?.();
      file.next = file.node.input.readFrom(file.at);
      file.nextAt = file.at;
    }
    // The old piece goes first: two of them are never held.
    file.piece = undefined;
    const take = (piece) => {
      file.piece = piece;
      file.pieceAt = file.at;
      file.nextAt += piece.length;
      const blocks = (end) => Math.ceil(end / BLOCK_BYTES);
      if (blocks(file.at) < blocks(file.nextAt) || file.nextAt === file.node.input.size) onRead(file.path, file.nextAt);
    };
    const piece = file.next();
    return piece instanceof Promise ? piece.then(take) : take(piece);
  };

  const pieces = function* (at, count) {
    for (let i = 0; i < count; i++) {
      const from = view();
      yield [from.getUint32(at + 8 * i, true), from.getUint32(at + 8 * i + 4, true)];
    }
  };

  const calls = {
    args_sizes_get(count, size) {
      view().setUint32(count, argv.length, true);
      view().setUint32(size, argv.reduce((sum, word) => sum + word.length, 0), true);
      return SUCCESS;
    },
    args_get(pointers, at) {
      argv.forEach((word, i) => {
        view().setUint32(pointers + 4 * i, at, true);
        bytes(at, word.length).set(word);
        at += word.length;
      });
      return SUCCESS;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    clock_time_get(clock, _precision, at) {
      const wall = clock === 0;
      view().setBigUint64(at, BigInt(Math.round((wall ? Date.now() : performance.now()) * 1e6)), true);
      return SUCCESS;
    },
    random_get(at, length) {
      // The browser gives at most so many bytes at a time.
      for (let done = 0; done < length; done += 65536) crypto.getRandomValues(bytes(at + done, Math.min(65536, length - done)));
      return SUCCESS;
    },
    // Nobody else runs here, so whoever waits for a time waits no longer.
    poll_oneoff(subscriptions, events, count, happened) {
      const out = view();
      for (let i = 0; i < count; i++) {
        out.setBigUint64(events + 32 * i, out.getBigUint64(subscriptions + 48 * i, true), true);
        out.setUint16(events + 32 * i + 8, SUCCESS, true);
        out.setUint8(events + 32 * i + 10, out.getUint8(subscriptions + 48 * i + 8));
      }
      out.setUint32(happened, count, true);
      return SUCCESS;
    },
    sched_yield: () => SUCCESS,
    proc_exit(status) {
      throw new Exit(status);
    },
    fd_close(descriptor) {
      open.get(descriptor)?.next?.end?.();
      return open.delete(descriptor) ? SUCCESS : BAD_DESCRIPTOR;
    },
    fd_fdstat_get(descriptor, at) {
      const file = open.get(descriptor);
      if (!file) return BAD_DESCRIPTOR;
      const out = view();
      // A stream is no terminal: a regular file, for whoever asks.
      out.setUint8(at, file.node?.type ?? REGULAR_FILE);
      out.setUint16(at + 2, 0, true);
      out.setBigUint64(at + 8, ~0n & 0x1fffffffn, true);
      out.setBigUint64(at + 16, ~0n & 0x1fffffffn, true);
      return SUCCESS;
    },
    fd_filestat_get(descriptor, at) {
      const file = open.get(descriptor);
      return file ? writeStat(file.node ?? { type: REGULAR_FILE }, at) : BAD_DESCRIPTOR;
    },
    fd_filestat_set_size(descriptor, size) {
      const written = open.get(descriptor)?.node?.written;
      return written?.resize(Number(size)) ? SUCCESS : INVALID;
    },
    fd_prestat_get(descriptor, at) {
      const name = ROOTS[descriptor - FIRST_ROOT];
      if (!name) return BAD_DESCRIPTOR;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, name.length, true);
      return SUCCESS;
    },
    fd_prestat_dir_name(descriptor, at, length) {
      bytes(at, length).set(encoder.encode(ROOTS[descriptor - FIRST_ROOT]));
      return SUCCESS;
    },
    fd_read(descriptor, at, count, got) {
      const file = open.get(descriptor);
      if (!file) return BAD_DESCRIPTOR;
      if (file.node?.type === FOLDER) return IS_A_FOLDER;
      // Standard input is empty, and what was written here is not read back.
      if (file.node && !file.node.input) return BAD_DESCRIPTOR;
      let total = 0;
      const wanted = file.node ? [...pieces(at, count)] : [];
      // Goes on where it was when it has had to wait for a piece.
      const fill = () => {
        for (; wanted.length > 0; wanted.shift()) {
          const [range] = wanted;
          while (range[1] > 0 && file.at < file.node.input.size) {
            const some = bytesAt(file)?.subarray(0, range[1]);
            if (!some) {
              const waits = readPiece(file);
              if (waits) return waits.then(fill);
              if (file.piece.length === 0) return FAILED;
              continue;
            }
            bytes(range[0], some.length).set(some);
            range[0] += some.length;
            range[1] -= some.length;
            file.at += some.length;
            total += some.length;
          }
        }
        view().setUint32(got, total, true);
        return SUCCESS;
      };
      return fill();
    },
    fd_write(descriptor, at, count, put) {
      const file = open.get(descriptor);
      if (!file) return BAD_DESCRIPTOR;
      if (file.node?.input) return READ_ONLY;
      let total = 0;
      for (const [from, length] of pieces(at, count)) {
        const given = bytes(from, length);
        if (file.write) file.write(given);
        else if (!file.node.written?.write(given, file.at)) return INVALID;
        else file.at += length;
        total += length;
      }
      view().setUint32(put, total, true);
      return SUCCESS;
    },
    fd_seek(descriptor, offset, whence, at) {
      const file = open.get(descriptor);
      if (!file?.node) return BAD_DESCRIPTOR;
      const to = [0, file.at, sizeOf(file.node)][whence] + Number(offset);
      if (!(to >= 0)) return INVALID;
      file.at = to;
      view().setBigUint64(at, BigInt(to), true);
      return SUCCESS;
    },
    fd_readdir(descriptor, at, length, cookie, used) {
      const file = open.get(descriptor);
      if (file?.node?.type !== FOLDER) return NOT_A_FOLDER;
      let filled = 0;
      for (const [i, path] of inside(file.path).entries()) {
        if (i < Number(cookie) || filled === length) continue;
        const name = encoder.encode(path.split("/").pop());
        const entry = new Uint8Array(24 + name.length);
        const out = new DataView(entry.buffer);
        out.setBigUint64(0, BigInt(i + 1), true);
        out.setBigUint64(8, number(nodes.get(path)), true);
        out.setUint32(16, name.length, true);
        out.setUint8(20, nodes.get(path).type);
        entry.set(name, 24);
        // An entry that is cut tells the caller that there are more.
        const fits = entry.subarray(0, length - filled);
        bytes(at + filled, fits.length).set(fits);
        filled += fits.length;
      }
      view().setUint32(used, filled, true);
      return SUCCESS;
    },
    path_open(folder, _follow, name, length, how, _rights, _inherited, flags, at) {
      const path = pathAt(folder, name, length);
      const [create, folderOnly, exclusive, truncate] = [1, 2, 4, 8].map((bit) => (how & bit) !== 0);
      let node = nodes.get(path);
      if (node && create && exclusive) return EXISTS;
      if (!node && !create) return NOT_THERE;
      if (node && folderOnly && node.type !== FOLDER) return NOT_A_FOLDER;
      if (node?.input && truncate) return READ_ONLY;
      if (!node && nodes.get(parent(path))?.type !== FOLDER) return NOT_THERE;
      if (!node || truncate) {
        node = node ?? { type: REGULAR_FILE };
        node.written = new Written();
        nodes.set(path, node);
      }
      const appends = (flags & 1) !== 0;
      open.set(nextDescriptor, { path, node, at: appends ? sizeOf(node) : 0 });
      view().setUint32(at, nextDescriptor, true);
      nextDescriptor += 1;
      return SUCCESS;
    },
    path_filestat_get(folder, _follow, name, length, at) {
      const node = nodes.get(pathAt(folder, name, length));
      return node ? writeStat(node, at) : NOT_THERE;
    },
    // The folder has no links.
    path_readlink: (folder, name, length) => (nodes.has(pathAt(folder, name, length)) ? INVALID : NOT_THERE),
    path_create_directory(folder, name, length) {
      const path = pathAt(folder, name, length);
      if (nodes.has(path)) return EXISTS;
      if (nodes.get(parent(path))?.type !== FOLDER) return NOT_THERE;
      nodes.set(path, { type: FOLDER });
      return SUCCESS;
    },
    path_remove_directory(folder, name, length) {
      const path = pathAt(folder, name, length);
      if (nodes.get(path)?.type !== FOLDER) return NOT_A_FOLDER;
      if (inside(path).length > 0) return NOT_EMPTY;
      nodes.delete(path);
      return SUCCESS;
    },
    path_unlink_file(folder, name, length) {
      const path = pathAt(folder, name, length);
      if (nodes.get(path)?.type === FOLDER) return IS_A_FOLDER;
      return nodes.delete(path) ? SUCCESS : NOT_THERE;
    },
    path_rename(from, name, length, to, newName, newLength) {
      const [path, newPath] = [pathAt(from, name, length), pathAt(to, newName, newLength)];
      const node = nodes.get(path);
      if (!node) return NOT_THERE;
      if (node.type === FOLDER || nodes.get(newPath)?.input) return INVALID;
      nodes.delete(path);
      nodes.set(newPath, node);
      return SUCCESS;
    },
  };
  const imported = canWait ? { ...calls, fd_read: new WebAssembly.Suspending(calls.fd_read) } : calls;
  // Calls that the program's libraries name and this program never makes.
  const imports = new Proxy(imported, { get: (all, name) => all[name] ?? (() => NO_SUCH_CALL) });

  let status = 0;
  let trap;
  const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
  memory = exports.memory;
  try {
    await (canWait ? WebAssembly.promising(exports._start)() : exports._start());
  } catch (error) {
    // A trap: the program panicked and has said why, or memory is used up.
    if (error instanceof Exit) status = error.status;
    else trap = error;
  }
  const outputs = new Map();
  for (const [path, node] of nodes) if (node.written) outputs.set(path, node.written.blob());
  const text = said.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
  return { status, trap: trap && String(trap), said: text, printed: printed.blob(), outputs, memoryBytes: memory.buffer.byteLength };
}
