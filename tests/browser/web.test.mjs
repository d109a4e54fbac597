// The page that analyses captures in the browser (web/), as a person uses it: files chosen and dropped, with keys and without, pieces of
// a ring buffer, measurements, a pre-shared key, the wrong file, Cancel, Japanese; opened from a file, and nothing is ever asked of a
// network. With SYNTHESIZE=PROGRAM (tests/bench/synthesize.rs) a capture of a gigabyte, too.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { after, before, test } from "node:test";
import { isFirefox, open, peakOfTabs, shot, start, stop } from "./browser.mjs";
import { assertFits, axe } from "./page.mjs";

const page = process.env.WEB_PAGE;
const samples = process.env.SAMPLES;
const CAPTURE = "l2tp_pfs4096_down.pcap";
const KEYS = "l2tp_pfs4096_down.esp_sa";
const OTHER = "l2tp_time_down.pcap";
const PSK_CAPTURE = "l2tp_kb_modp1024_down.pcap";
// The pre-shared key of the lab, and the secret of phase 1 of that capture, as charon's log has it: neither opens anything alone.
const PSK = "rekeyscope-lab-psk";
const DH_SECRET = `11[IKE] shared Diffie Hellman secret => 128 bytes @ 0x552ab018f0
11[IKE]    0: 89 C9 E8 47 AE 26 0A C6 A4 88 04 85 FF 89 1D 19  ...G.&..........
11[IKE]   16: 66 15 54 9C 0E 00 CC 6B 71 8D 7B 75 F4 C3 99 B3  f.T....kq.{u....
11[IKE]   32: 58 B8 93 CC 75 A4 AA 9E A5 97 4A A4 89 C2 E3 DF  X...u.....J.....
11[IKE]   48: 0A 21 32 0B 67 A6 49 DB 16 9C 56 D6 9A 3E 31 EA  .!2.g.I...V..>1.
11[IKE]   64: 7E 4D 9D 70 C6 00 97 32 03 DA 73 EF BF 61 86 7D  ~M.p...2..s..a.}
11[IKE]   80: DA FB 87 5C 11 DC 7D B5 3E FE 6D 1C DB 56 B0 C8  ...\\..}.>.m..V..
11[IKE]   96: 7F 52 D1 0C 1C 68 8F 7E B2 76 C4 58 B9 68 AC FD  .R...h.~.v.X.h..
11[IKE]  112: 87 46 2A 66 B5 99 19 CD 7C E9 A1 D6 30 01 EB FF  .F*f....|...0...
`;
// Long enough to be cancelled: so many times a sample's bytes, as one capture.
const LONG_TIMES = 60;
// A tab with a gigabyte in it, in MiB: what an ordinary page takes, whatever the capture's size.
const MOST_MIB = 350;
const BIG_PATIENCE_MS = 300_000;

before(start);
after(stop);

const sample = (name) => path.join(samples, name);
const found = (name) => (path.isAbsolute(name) ? name : sample(name));

// The page with its log of sins, of which there must be none at the end.
function openPage(options, use) {
  return open(page, { acceptDownloads: true, ...options }, async (tab, sins) => {
    await use(tab);
    // The page's own report lives under a blob.
    assert.deepEqual(sins.filter((sin) => !sin.startsWith("request: blob:")), []);
  });
}

const choose = (tab, role, names) => tab.locator(`[data-role="${role}"] input[type=file]`).setInputFiles(names.map(found));
const analyse = (tab) => tab.locator("#go").click();
const report = (tab) => tab.frameLocator("#report");
const reported = (tab) => report(tab).locator("#verdict .sentence").first().waitFor();

// What a link of the page saves. Firefox tells its driver nothing of a download: there it is what the link is made of.
async function saved(tab, selector) {
  if (isFirefox) {
    const name = await tab.locator(selector).getAttribute("download");
    const bytes = await tab.evaluate(async (name) => [...new Uint8Array(await result.texts.get(REPORTS + name).arrayBuffer())], name);
    return { name, bytes: Buffer.from(bytes) };
  }
  const [download] = await Promise.all([tab.waitForEvent("download"), tab.locator(selector).click()]);
  return { name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path()) };
}

// The output of the program itself with the same words, in the samples' folder or another one.
function programIn(folder, ...words) {
  return execFileSync(process.env.REKEYSCOPE, words, { cwd: folder, maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
}
const program = (...words) => programIn(samples, ...words);

// A folder without the keys that lie beside a sample.
function alone(name) {
  const folder = fs.mkdtempSync(path.join(process.env.REPORTS, "alone-"));
  fs.copyFileSync(sample(name), path.join(folder, name));
  return folder;
}

// A drop as the browser has it: the files are the system's, not made by a script in the page. Firefox lets no driver drop files, so
// there they are chosen for the place that they would come to.
async function drop(tab, selector, names) {
  if (isFirefox) {
    for (const name of names) await choose(tab, /\.pcap$/.test(name) || selector.includes("captures") ? "captures" : "keys", [name]);
    return;
  }
  const session = await tab.context().newCDPSession(tab);
  const box = await tab.locator(selector).boundingBox();
  const data = { items: [], files: names.map(found), dragOperationsMask: 1 };
  const [x, y] = [box.x + box.width / 2, box.y + Math.min(box.height / 2, 20)];
  for (const type of ["dragEnter", "dragOver", "drop"]) await session.send("Input.dispatchDragEvent", { type, x, y, data });
}

test("a sample with keys gives the program's own document and report", () =>
  openPage({}, async (tab) => {
    await shot(tab, "web-form");
    await choose(tab, "captures", [CAPTURE]);
    await choose(tab, "keys", [KEYS]);
    await shot(tab, "web-chosen");
    await analyse(tab);
    await reported(tab);
    await shot(tab, "web-report");
    const json = await saved(tab, "#save-json");
    assert.equal(json.name, "l2tp_pfs4096_down.json");
    assert.ok(json.bytes.equals(program(CAPTURE, "-q", "--keys", KEYS, "--json", "-")), "the same document");
    const html = await saved(tab, "#save-html");
    assert.ok(html.bytes.equals(program(CAPTURE, "-q", "--keys", KEYS, "--html", "-", "--lang", "en")), "the same report");
    const link = report(tab).locator('a[href^="#rekey"]').first();
    const target = (await link.getAttribute("href")).slice(1);
    await link.click();
    await report(tab).locator(`[id="${target}"]:target`).waitFor({ state: "attached", timeout: 10_000 });
    // The report's own style sheet and script are at work: neither is without the page's policy.
    assert.equal(await report(tab).locator("main").evaluate((main) => getComputedStyle(main).maxWidth), "1440px");
    assert.equal(await report(tab).locator("figure.timeline .tools").count() > 0, true, "the script put its tools there");
  }));

test("the inner packets are those that the program writes", { skip: isFirefox && "Firefox tells its driver nothing of downloads" }, () =>
  openPage({}, async (tab) => {
    await choose(tab, "captures", [CAPTURE]);
    await choose(tab, "keys", [KEYS]);
    await analyse(tab);
    await reported(tab);
    const inner = await saved(tab, "#inner");
    assert.equal(inner.name, "l2tp_pfs4096_down-inner.pcapng");
    const wanted = path.join(process.env.REPORTS, "inner.pcapng");
    program(CAPTURE, "-q", "--keys", KEYS, "--write-inner", wanted);
    assert.ok(inner.bytes.equals(fs.readFileSync(wanted)), "the same packets");
  }));

test("a real drop beside the fields is sorted by what the files begin with", { skip: isFirefox && "no driver drops files in Firefox" }, () =>
  openPage({}, async (tab) => {
    await drop(tab, "#form h1", [KEYS, CAPTURE]);
    await tab.locator('[data-role="captures"] .files li', { hasText: CAPTURE }).waitFor();
    await tab.locator('[data-role="keys"] .files li', { hasText: KEYS }).waitFor();
    await shot(tab, "web-dropped");
    await analyse(tab);
    await reported(tab);
    const json = await saved(tab, "#save-json");
    assert.ok(json.bytes.equals(program(CAPTURE, "-q", "--keys", KEYS, "--json", "-")));
  }));

test("without keys the report comes from ESP bytes, and the page says what the program says", () =>
  openPage({}, async (tab) => {
    await choose(tab, "captures", [CAPTURE]);
    await analyse(tab);
    await reported(tab);
    await tab.locator("#notes li", { hasText: /^no key for \d+ of \d+ SAs/ }).waitFor();
    const { bytes } = await saved(tab, "#save-json");
    assert.ok(bytes.equals(programIn(alone(CAPTURE), CAPTURE, "-q", "--json", "-")));
  }));

test("a text dropped as the capture gets the program's own sentence", () =>
  openPage({}, async (tab) => {
    await drop(tab, '[data-role="captures"]', [KEYS]);
    await tab.locator('[data-role="captures"] .files li').waitFor();
    await analyse(tab);
    const sentence = await tab.locator("#problems li").first().textContent();
    let own = "";
    try {
      execFileSync(process.env.REKEYSCOPE, [KEYS, "--json", "-"], { cwd: samples, stdio: "pipe" });
    } catch (error) {
      own = error.stderr.toString();
    }
    assert.equal(`rekeyscope: ${sentence}`, own.trim());
    await shot(tab, "web-wrong-file");
    assert.equal(await tab.locator("#form").isVisible(), true);
  }));

test("Cancel ends a long run at once, and the files stay chosen", async () => {
  const long = path.join(process.env.REPORTS, "long.pcap");
  const bytes = fs.readFileSync(sample(CAPTURE));
  // The sample's packets again and again behind one header: constructed, and read as one capture.
  fs.writeFileSync(long, bytes);
  for (let i = 1; i < LONG_TIMES; i++) fs.appendFileSync(long, bytes.subarray(24));
  await openPage({}, async (tab) => {
    await drop(tab, '[data-role="captures"]', [long]);
    await tab.locator('[data-role="captures"] .files li').waitFor();
    await analyse(tab);
    await tab.locator("#doing", { hasText: /^Reading long\.pcap: [1-9]/ }).waitFor();
    await shot(tab, "web-progress");
    await tab.locator("#cancel").click();
    assert.equal(await tab.locator("#problems li").textContent(), "Cancelled. Your files are still chosen.");
    assert.equal(await tab.locator('[data-role="captures"] .files li').count(), 1);
    // Another run begins from there.
    await tab.locator('[data-role="captures"] .files button').click();
    await choose(tab, "captures", [CAPTURE]);
    await analyse(tab);
    await reported(tab);
  });
});

test("several captures get an overview and a report each", () =>
  openPage({}, async (tab) => {
    await choose(tab, "captures", [CAPTURE, OTHER]);
    await analyse(tab);
    const rows = report(tab).locator("table.index tbody tr");
    await rows.nth(1).waitFor();
    assert.equal(await rows.count(), 2);
    await shot(tab, "web-several");
    await rows.nth(1).locator("a").click();
    await reported(tab);
    const { name, bytes } = await saved(tab, "#save-json");
    assert.equal(name, "l2tp_time_down.json");
    assert.ok(bytes.equals(programIn(alone(OTHER), OTHER, "-q", "--json", "-")));
  }));

test("in Japanese the page and the report are", () =>
  openPage({ locale: "ja-JP" }, async (tab) => {
    assert.equal(await tab.locator("#go").textContent(), "解析する");
    await shot(tab, "web-ja");
    await choose(tab, "captures", [CAPTURE]);
    await choose(tab, "keys", [KEYS]);
    await analyse(tab);
    await reported(tab);
    assert.equal(await report(tab).locator("html").getAttribute("lang"), "ja");
    assert.equal(await report(tab).locator("main").evaluate((main) => getComputedStyle(main).maxWidth), "1440px");
  }));

test("a pre-shared key opens what it opens for the program, and is gone with another capture", () =>
  openPage({}, async (tab) => {
    const folder = alone(PSK_CAPTURE);
    fs.writeFileSync(path.join(folder, "charon.log"), DH_SECRET);
    fs.writeFileSync(path.join(folder, "pre-shared-key.txt"), PSK);
    await choose(tab, "captures", [PSK_CAPTURE]);
    await choose(tab, "keys", [path.join(folder, "charon.log")]);
    await tab.locator("#psk").fill(PSK);
    await analyse(tab);
    await reported(tab);
    const { bytes } = await saved(tab, "#save-json");
    const words = ["--keys", "charon.log", "--psk-file", "pre-shared-key.txt"];
    assert.ok(bytes.equals(programIn(folder, PSK_CAPTURE, "-q", ...words, "--json", "-")), "the same document");
    const statuses = JSON.parse(bytes).security_associations.map((sa) => sa.key.status);
    assert.ok(statuses.length > 0 && statuses.every((status) => status === "verified"), `every SA is decrypted: ${statuses}`);
    assert.ok(!bytes.includes(PSK), "the key itself is nowhere in it");
    await tab.locator("#again").click();
    assert.equal(await tab.locator("#psk").inputValue(), "");
    assert.equal(await tab.locator("#go").isDisabled(), true);
  }));

// A pcap's packets in `count` files, named as dumpcap -b does. Their paths.
function pieces(name, count) {
  const folder = fs.mkdtempSync(path.join(process.env.REPORTS, "ring-"));
  const bytes = fs.readFileSync(sample(name));
  const begins = [24];
  for (let at = 24; at < bytes.length; ) begins.push((at += 16 + bytes.readUInt32LE(at + 8)));
  return Array.from({ length: count }, (_, i) => {
    const [from, to] = [i, i + 1].map((n) => begins[Math.floor((n * (begins.length - 1)) / count)]);
    const file = path.join(folder, `ring_0000${i + 1}_2026112909000${i}.pcap`);
    fs.writeFileSync(file, Buffer.concat([bytes.subarray(0, 24), bytes.subarray(from, to)]));
    return file;
  });
}

test("pieces of a ring buffer are one capture, in whatever order they are dropped", () =>
  openPage({}, async (tab) => {
    const files = pieces(CAPTURE, 3);
    await drop(tab, "#form h1", [files[2], files[0], files[1], KEYS]);
    await tab.locator('[data-role="captures"] .files li').nth(2).waitFor();
    await tab.locator('[data-role="keys"] .files li').waitFor();
    await analyse(tab);
    await reported(tab);
    assert.equal(await tab.locator("#which").isVisible(), false, "one report");
    const { bytes } = await saved(tab, "#save-json");
    const folder = path.dirname(files[0]);
    fs.copyFileSync(sample(KEYS), path.join(folder, KEYS));
    const words = [2, 0, 1].map((i) => path.basename(files[i]));
    assert.ok(bytes.equals(programIn(folder, ...words, "-q", "--keys", KEYS, "--json", "-")), "the same document");
    const whole = JSON.parse(program(CAPTURE, "-q", "--keys", KEYS, "--json", "-"));
    assert.deepEqual(JSON.parse(bytes).answer, whole.answer, "the answer of the whole capture");
  }));

test("measurements of a router and of iperf3 are drawn beside the transfer", () =>
  openPage({}, async (tab) => {
    const folder = alone(CAPTURE);
    const began = Math.floor(Date.parse(JSON.parse(program(CAPTURE, "-q", "--json", "-")).capture.first_time) / 1000);
    const rows = Array.from({ length: 16 }, (_, i) => `${i}.5,${20 + ((i * 37) % 60)}`);
    fs.writeFileSync(path.join(folder, "cpu.csv"), `time,CPU of the router\n${rows.join("\n")}\n`);
    const intervals = rows.map((_, i) => ({ sum: { start: i, end: i + 1, bytes: 1_000_000 + i * i } }));
    fs.writeFileSync(path.join(folder, "run.json"), JSON.stringify({ start: { timestamp: { timesecs: began } }, intervals }));
    await choose(tab, "captures", [CAPTURE]);
    await tab.locator("summary").click();
    await choose(tab, "overlay", [path.join(folder, "cpu.csv")]);
    await choose(tab, "iperf3", [path.join(folder, "run.json")]);
    await analyse(tab);
    await reported(tab);
    const { bytes } = await saved(tab, "#save-json");
    assert.ok(bytes.equals(programIn(folder, CAPTURE, "-q", "--overlay", "cpu.csv", "--iperf3", "run.json", "--json", "-")), "the same document");
    assert.ok((await report(tab).locator("svg").allTextContents()).some((text) => text.includes("CPU of the router")), "it is drawn");
  }));

const synthesize = process.env.SYNTHESIZE;
test("a gigabyte is read in little memory", { skip: synthesize ? false : "SYNTHESIZE names no program that writes one" }, () =>
  openPage({}, async (tab) => {
    const big = path.join(process.env.REPORTS, "big.pcap");
    execFileSync(synthesize, [big, "1000"]);
    const keys = big.replace(/pcap$/, "esp_sa");
    await drop(tab, "#form h1", [big, keys]);
    await tab.locator('[data-role="captures"] .files li').waitFor();
    await tab.locator('[data-role="keys"] .files li').waitFor();
    tab.setDefaultTimeout(BIG_PATIENCE_MS);
    const begun = performance.now();
    await analyse(tab);
    await reported(tab);
    console.log(`the report of a gigabyte stood there after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    const { bytes } = await saved(tab, "#save-json");
    assert.ok(bytes.equals(programIn(path.dirname(big), "big.pcap", "-q", "--keys", "big.esp_sa", "--json", "-")), "the same document");
    const peak = await peakOfTabs();
    console.log(`with a gigabyte the tab took ${peak} MiB`);
    assert.ok(peak > 0 && peak <= MOST_MIB, `the tab took ${peak} MiB`);
  }));

test("on a telephone everything fits, and axe finds nothing serious", () =>
  openPage({ viewport: { width: 390, height: 844 } }, async (tab) => {
    await tab.locator("summary").click();
    await assertFits(tab, "form");
    assert.deepEqual(await axe(tab), []);
    await choose(tab, "captures", [CAPTURE]);
    await choose(tab, "keys", [KEYS]);
    await shot(tab, "web-phone-form");
    await analyse(tab);
    await reported(tab);
    await assertFits(tab, "report");
    await shot(tab, "web-phone-report");
  }));

test("an old browser gets a sentence", async () => {
  await open(page, {}, async (tab, sins) => {
    await tab.addInitScript(() => delete window.DecompressionStream);
    await tab.reload();
    await tab.locator("#too-old").waitFor();
    assert.equal(await tab.locator("#form").isVisible(), false);
    assert.deepEqual(sins, []);
  });
  await openPage({}, async (tab) => assert.equal(await tab.locator("#too-old").isVisible(), false));
});

test("the page cannot send anything: a script in it that tries is refused", () =>
  open(page, {}, async (tab) => {
    const refused = await tab.evaluate(() => {
      const blocked = new Promise((resolve) => document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective)));
      fetch("https://example.org/").catch(() => {});
      return blocked;
    });
    assert.equal(refused, "connect-src");
  }));

test("whatever a report were to hold, its frame runs no script, asks for nothing and goes nowhere", async () => {
  let asked = 0;
  const server = http.createServer((_, response) => {
    asked += 1;
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const foreign = `http://127.0.0.1:${server.address().port}/`;
  await open(page, {}, async (tab, sins) => {
    const found = await tab.evaluate(async (foreign) => {
      const frame = document.getElementById("report");
      document.getElementById("done").hidden = false;
      const aWhile = () => new Promise((resolve) => setTimeout(resolve, 500));
      const html = async (body) => {
        frame.srcdoc = `<!DOCTYPE html><title>constructed</title>${body}`;
        await new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
        await aWhile();
      };
      await html(`<script>top.ran = true</script><img src="${foreign}" onerror="top.ran = true">
        <style>body { background: url(${foreign}) }</style><form action="${foreign}"><button>send</button></form>`);
      frame.contentDocument.querySelector("button").click();
      await aWhile();
      await html(`<meta http-equiv="refresh" content="0; url=${foreign}">`);
      await html(`<iframe src="${foreign}"></iframe>`);
      return { ran: Boolean(window.ran), at: frame.contentWindow.location.href };
    }, foreign);
    assert.deepEqual(found, { ran: false, at: "about:srcdoc" });
    for (const directive of ["script-src", "img-src", "style-src", "form-action", "frame-src"]) {
      assert.ok(sins.some((sin) => !sin.startsWith("request: ") && sin.includes(directive)), `${directive} refuses: ${sins.join(" | ")}`);
    }
  });
  server.close();
  assert.equal(asked, 0, "nothing reached the server");
});
