// The page: collects files, runs the program on them in a worker with the words of its command line, shows its report.
"use strict";

const WORDS = {
  en: {
    question: "What did the IPsec rekeys in this capture cost?",
    stays: "Your files stay on this computer. The page has no way to send anything, and works without a network.",
    other_language: "日本語",
    captures: "Capture",
    captures_hint: "Drop it here: pcap or pcapng, also packed (gz, zst, lz4). Pieces of a ring buffer belong together; several captures get a report each.",
    keys: "Keys, where you have them",
    keys_hint: "The router's or IKE daemon's log, or a Wireshark table. Each key is proven by the packets. Without keys the report says what ESP alone shows.",
    psk: "IKEv1 pre-shared key",
    overlays: "Measurements to draw beside it",
    overlay: "CSV of times and values",
    overlay_hint: "The router's processor, vmstat, sar.",
    iperf3: "JSON of iperf3",
    iperf3_hint: "What iperf3 --json wrote about the same run.",
    choose: "Choose files",
    remove: "Remove",
    go: "Analyse",
    needs: "A capture is needed.",
    unpacking: "Starting the program",
    reading: (name, percent) => `Reading ${name}: ${percent} %`,
    judging: "Working out what the rekeys cost",
    cancel: "Cancel",
    cancelled: "Cancelled. Your files are still chosen.",
    again: "Another capture",
    show: "Report",
    overview: "Overview",
    save_html: "Save report",
    save_json: "Save JSON",
    inner: "Save inner packets",
    no_inner: "There are no inner packets to save.",
    broke: (why) => `The program stopped: ${why}. If memory was used up, the command line program can do more.`,
    silent: "The program ended without a report.",
  },
  ja: {
    question: "このキャプチャで IPsec のリキーはどれだけの損失になったか",
    stays: "ファイルはこのコンピューターから出ません。このページは何も送信できず、ネットワークなしで動きます。",
    other_language: "English",
    captures: "キャプチャ",
    captures_hint: "ここにドロップしてください。pcap・pcapng、圧縮したもの（gz・zst・lz4）も読めます。リングバッファの各ファイルは一つのキャプチャとして、別々のキャプチャはそれぞれのレポートになります。",
    keys: "鍵（あれば）",
    keys_hint: "ルーターや IKE デーモンのログ、または Wireshark の表。どの鍵もパケットで確かめてから使います。鍵がなければ、ESP だけから分かることを示します。",
    psk: "IKEv1 の事前共有鍵",
    overlays: "並べて描く測定値",
    overlay: "時刻と値の CSV",
    overlay_hint: "ルーターの CPU、vmstat、sar など。",
    iperf3: "iperf3 の JSON",
    iperf3_hint: "同じ転送について iperf3 --json が書いたもの。",
    choose: "ファイルを選ぶ",
    remove: "外す",
    go: "解析する",
    needs: "キャプチャが必要です。",
    unpacking: "プログラムを起動しています",
    reading: (name, percent) => `${name} を読んでいます: ${percent} %`,
    judging: "リキーによる損失を求めています",
    cancel: "中止",
    cancelled: "中止しました。ファイルは選ばれたままです。",
    again: "別のキャプチャ",
    show: "レポート",
    overview: "一覧",
    save_html: "レポートを保存",
    save_json: "JSON を保存",
    inner: "内側のパケットを保存",
    no_inner: "保存できる内側のパケットはありません。",
    broke: (why) => `プログラムが止まりました: ${why}。メモリーが足りないときは、コマンドラインのプログラムで解析できます。`,
    silent: "プログラムはレポートを作らずに終わりました。",
  },
};

// First bytes of what the program takes for captures and for packed files. Anything else that is dropped beside the fields is taken
// for keys, whose forms are many.
const CAPTURE_MARKS = ["d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "34cdb2a1", "a1b2cd34", "0a0d0d0a", "1f8b", "28b52ffd", "04224d18"];
const PSK_FILE = "pre-shared-key.txt";
const REPORTS = "reports/";
const INNER = "inner.pcapng";

const by = (id) => document.getElementById(id);
const chosen = { captures: [], keys: [], overlay: [], iperf3: [] };
let language = navigator.language.startsWith("ja") ? "ja" : "en";
const word = (key) => WORDS[language][key];
// Compiled once; every run gets a worker of its own, and with it goes all memory that the run took.
let module;
let running;
let result;

// A module with one instruction of SIMD, which the program uses.
const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];

function isNewEnough() {
  const needed = [self.Worker, self.DecompressionStream, self.WebAssembly, self.BigInt, Blob.prototype.stream];
  return needed.every(Boolean) && WebAssembly.validate(new Uint8Array(SIMD));
}

function show(id) {
  for (const main of document.querySelectorAll("main")) main.hidden = main.id !== id;
}

function speak() {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = word(element.dataset.word);
  by("language").textContent = word("other_language");
  by("language").lang = language === "ja" ? "en" : "ja";
  listFiles();
}

function listFiles() {
  for (const zone of document.querySelectorAll(".zone")) {
    const files = chosen[zone.dataset.role];
    zone.querySelector(".files").replaceChildren(
      ...files.map((file) => {
        const item = document.createElement("li");
        const name = document.createElement("span");
        name.textContent = `${file.name} (${megabytes(file.size)})`;
        const button = document.createElement("button");
        button.type = "button";
        button.className = "quiet";
        button.textContent = word("remove");
        button.setAttribute("aria-label", `${word("remove")}: ${file.name}`);
        button.onclick = () => {
          files.splice(files.indexOf(file), 1);
          listFiles();
        };
        item.append(name, button);
        return item;
      }),
    );
  }
  by("go").disabled = chosen.captures.length === 0;
  by("needs").hidden = chosen.captures.length > 0;
}

function megabytes(bytes) {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0)} MB`;
}

function sentences(list, lines) {
  const items = lines.map((line) => {
    const item = document.createElement("li");
    item.textContent = line;
    return item;
  });
  list.replaceChildren(...items);
}

async function roleOf(file) {
  const head = new Uint8Array(await file.slice(0, 4).arrayBuffer().catch(() => new ArrayBuffer(0)));
  const hex = Array.from(head, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return CAPTURE_MARKS.some((mark) => hex.startsWith(mark)) ? "captures" : "keys";
}

async function add(files, role) {
  for (const file of files) chosen[role ?? (await roleOf(file))].push(file);
  sentences(by("problems"), []);
  listFiles();
}

// Files with names of their own, and the words that name them. Captures come last, so that no name is taken for an option.
function commandLine(more) {
  const files = [];
  const taken = new Set([PSK_FILE, REPORTS.slice(0, -1), INNER]);
  const place = (file) => {
    const dot = file.name.lastIndexOf(".");
    const [stem, end] = dot > 0 ? [file.name.slice(0, dot), file.name.slice(dot)] : [file.name, ""];
    let name = file.name;
    for (let n = 2; taken.has(name); n++) name = `${stem} (${n})${end}`;
    taken.add(name);
    files.push({ name, file });
    return name;
  };
  const captures = chosen.captures.map(place);
  const words = [...more, `--lang=${language}`];
  for (const [role, option] of [["keys", "--keys"], ["overlay", "--overlay"], ["iperf3", "--iperf3"]]) {
    words.push(...chosen[role].map((file) => `${option}=${place(file)}`));
  }
  const psk = by("psk").value;
  if (psk !== "") {
    files.push({ name: PSK_FILE, file: new Blob([psk]) });
    words.push(`--psk-file=${PSK_FILE}`);
  }
  return { files, captures, words: [...words, "--", ...captures] };
}

// Runs the program; null where the person cancelled it.
function run({ files, captures, words }) {
  const url = URL.createObjectURL(new Blob([by("worker").textContent], { type: "text/javascript" }));
  const worker = new Worker(url);
  const sizes = new Map(files.map(({ name, file }) => [name, file.size]));
  const total = captures.reduce((sum, name) => sum + sizes.get(name), 0);
  const read = new Map();
  by("doing").textContent = word("unpacking");
  by("progress").removeAttribute("value");
  show("working");
  return new Promise((resolve) => {
    const end = (done) => {
      worker.terminate();
      URL.revokeObjectURL(url);
      running = undefined;
      resolve(done);
    };
    running = { cancel: () => end(null) };
    worker.onerror = (event) => end({ trap: event.message, said: "", outputs: new Map() });
    worker.onmessage = ({ data }) => {
      if (data.module) module = data.module;
      if (data.done) end(data.done);
      if (!captures.includes(data.name)) return;
      read.set(data.name, data.end);
      const part = total > 0 ? [...read.values()].reduce((sum, bytes) => sum + bytes, 0) / total : 1;
      by("progress").value = part;
      by("doing").textContent = part < 1 ? word("reading")(data.name, Math.floor(part * 100)) : word("judging");
    };
    worker.postMessage({ module, packed: module ? "" : by("program").textContent, words, files });
  });
}

// Sentences of the program to the person, one a line; the program puts its name in front.
function saidBy(done) {
  const lines = done.said.split("\n").map((line) => line.replace(/^rekeyscope: /, "").trim());
  const said = lines.filter(Boolean);
  return done.trap ? [word("broke")(said.at(-1) ?? done.trap), ...said.slice(0, -1)] : said;
}

async function analyse() {
  const line = commandLine([`--html=${REPORTS}`, `--json=${REPORTS}`]);
  const done = await run(line);
  if (!done) return backToForm([word("cancelled")]);
  const names = [...done.outputs.keys()].filter((name) => name.startsWith(REPORTS) && name.endsWith(".html"));
  const reports = names.map((name) => name.slice(REPORTS.length, -".html".length)).filter((name) => name !== "index");
  const read = reports.filter((name) => done.outputs.has(`${REPORTS}${name}.json`));
  if (done.trap || read.length === 0) return backToForm(saidBy(done).length > 0 ? saidBy(done) : [word("silent")]);
  await showReports(done, read);
}

function backToForm(lines) {
  sentences(by("problems"), lines);
  show("form");
}

async function showReports(done, names) {
  if (result) result.urls.forEach((url) => URL.revokeObjectURL(url));
  const urls = new Map();
  for (const [name, blob] of done.outputs) {
    const type = name.endsWith(".html") ? "text/html" : "application/json";
    urls.set(name, URL.createObjectURL(blob.slice(0, blob.size, type)));
  }
  result = { urls, names, texts: done.outputs };
  const several = names.length > 1;
  const options = names.map((name) => new Option(name, name));
  if (several) options.unshift(new Option(word("overview"), "index"));
  by("reports").replaceChildren(...options);
  by("which").hidden = !several;
  // Inner packets are those of one capture.
  by("inner").hidden = several;
  sentences(by("notes"), saidBy(done));
  show("done");
  showReport();
}

function showReport() {
  const name = by("reports").value;
  const save = (link, file) => {
    const url = result.urls.get(REPORTS + file);
    link.hidden = !url;
    link.href = url ?? "";
    link.download = file;
  };
  save(by("save-html"), `${name}.html`);
  save(by("save-json"), `${name}.json`);
  by("report").title = name;
  // A blob's address would not do: opened from a disk, the browser refuses to follow links within one.
  result.texts.get(`${REPORTS}${name}.html`).text().then((text) => { by("report").srcdoc = text; });
}

async function saveInner() {
  const done = await run(commandLine([`--write-inner=${INNER}`, "--quiet"]));
  show("done");
  if (!done) return;
  const blob = done.outputs.get(INNER);
  if (!blob) return sentences(by("notes"), [word("no_inner"), ...saidBy(done)]);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${by("reports").value}-${INNER}`;
  link.click();
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// A frame without an address of its own would look for its links' targets in this page.
function followLinks() {
  const { contentWindow, contentDocument } = by("report");
  contentDocument?.addEventListener("click", (event) => {
    const target = event.target.closest?.("a")?.getAttribute("href");
    if (target === undefined || target === null) return;
    event.preventDefault();
    if (target.startsWith("#")) contentWindow.location.hash = target;
    // The overview's links name the files of the reports.
    const report = result.names.find((name) => target === `${encodeURIComponent(name)}.html` || target === `${name}.html`);
    if (!report) return;
    by("reports").value = report;
    showReport();
  });
}

// Shows where a file would land. A drop beside the fields is sorted by what the files begin with.
function takeDrops() {
  const zoneOf = (event) => event.target.closest?.(".zone");
  const mark = (zone) => document.querySelectorAll(".zone").forEach((each) => each.classList.toggle("over", each === zone));
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    mark(zoneOf(event));
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) mark(null);
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    mark(null);
    // While the program runs, a drop changes nothing.
    if (!by("form").hidden) add([...event.dataTransfer.files], zoneOf(event)?.dataset.role);
  });
}

function start() {
  by("too-old").hidden = true;
  takeDrops();
  for (const input of document.querySelectorAll(".zone input[type=file]")) {
    input.onchange = () => {
      add([...input.files], input.closest(".zone").dataset.role);
      // The same file may be chosen again after it was removed.
      input.value = "";
    };
  }
  by("language").onclick = () => {
    language = language === "ja" ? "en" : "ja";
    speak();
  };
  document.forms[0].onsubmit = (event) => {
    event.preventDefault();
    analyse();
  };
  by("cancel").onclick = () => running?.cancel();
  by("again").onclick = () => {
    Object.values(chosen).forEach((files) => files.splice(0));
    by("psk").value = "";
    by("report").removeAttribute("srcdoc");
    backToForm([]);
    listFiles();
  };
  by("reports").onchange = showReport;
  by("inner").onclick = saveInner;
  by("report").onload = followLinks;
  speak();
  show("form");
}

if (isNewEnough()) start();
