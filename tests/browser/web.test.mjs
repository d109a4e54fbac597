// The page that analyses captures in the browser (web/), as a person uses it: files chosen and dropped, with keys and without, the
// wrong file, Cancel, Japanese; opened from a file, and nothing is ever asked of a network.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { open, shot, start, stop } from "./browser.mjs";
import { assertFits, axe } from "./page.mjs";

const page = process.env.WEB_PAGE;
const samples = process.env.SAMPLES;
const CAPTURE = "l2tp_pfs4096_down.pcap";
const KEYS = "l2tp_pfs4096_down.esp_sa";
const OTHER = "l2tp_time_down.pcap";
// Long enough to be cancelled: so many times a sample's bytes, as one capture.
const LONG_TIMES = 60;

before(start);
after(stop);

const sample = (name) => path.join(samples, name);

// The page with its log of sins, of which there must be none at the end.
function openPage(options, use) {
  return open(page, { acceptDownloads: true, ...options }, async (tab, sins) => {
    await use(tab);
    // The page's own report lives under a blob.
    assert.deepEqual(sins.filter((sin) => !sin.startsWith("request: blob:")), []);
  });
}

const choose = (tab, role, names) => tab.locator(`[data-role="${role}"] input[type=file]`).setInputFiles(names.map(sample));
const analyse = (tab) => tab.locator("#go").click();
const report = (tab) => tab.frameLocator("#report");
const reported = (tab) => report(tab).locator("#verdict .sentence").first().waitFor();

async function saved(tab, selector) {
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

// A drop as the browser has it: the files are the system's, not made by a script in the page.
async function drop(tab, selector, names) {
  const session = await tab.context().newCDPSession(tab);
  const box = await tab.locator(selector).boundingBox();
  const data = { items: [], files: names.map((name) => (path.isAbsolute(name) ? name : sample(name))), dragOperationsMask: 1 };
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

test("the inner packets are those that the program writes", () =>
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

test("a real drop beside the fields is sorted by what the files begin with", () =>
  openPage({}, async (tab) => {
    await drop(tab, "#form h1", [KEYS, CAPTURE]);
    await tab.locator('[data-role="captures"] .files li', { hasText: CAPTURE }).waitFor();
    await tab.locator('[data-role="keys"] .files li', { hasText: KEYS }).waitFor();
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

test("a pre-shared key reaches the program, and is gone with another capture", () =>
  openPage({}, async (tab) => {
    await choose(tab, "captures", [CAPTURE]);
    await tab.locator("#psk").fill("not the key of this sample");
    await analyse(tab);
    await reported(tab);
    const { bytes } = await saved(tab, "#save-json");
    assert.ok(bytes.includes("pre-shared-key.txt") && !bytes.includes("not the key of this sample"));
    await tab.locator("#again").click();
    assert.equal(await tab.locator("#psk").inputValue(), "");
    assert.equal(await tab.locator("#go").isDisabled(), true);
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
