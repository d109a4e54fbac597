// The browser, and what every test needs of it: a page that shows one report and writes down what it must not do.
import fs from "node:fs";
import path from "node:path";
import { chromium, firefox } from "playwright-core";

export const folder = process.env.REPORTS;
export const reports = fs.readdirSync(folder).filter((name) => name.endsWith(".html")).map((name) => path.basename(name, ".html"));
const shots = process.env.SHOTS;

// Chromium's sandbox does not start for root.
const root = process.getuid?.() === 0;
// A loaded machine is slow, and slowness is not what is tested here.
const PATIENCE_MS = 60_000;

let browser;

// Set where the browser is the system's own Firefox, which is driven by WebDriver BiDi: later versions of playwright-core than the one
// that package.json names ask it for what Firefox ESR 153 does not know.
export const isFirefox = Boolean(process.env.FIREFOX);

export async function start() {
  if (isFirefox) {
    browser = await firefox.launch({ executablePath: process.env.FIREFOX, channel: "moz-firefox", timeout: PATIENCE_MS });
    return;
  }
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: root ? ["--no-sandbox"] : [], timeout: PATIENCE_MS });
}

export async function stop() {
  await browser?.close();
}

// Opens a file in a context of its own and hands the page to `use(page, sins)`. `sins` collects console errors (a violated
// policy is one), uncaught errors, and requests for anything but the file itself.
export async function open(file, options, use) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const url = `file://${file}`;
    const sins = [];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) sins.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => sins.push(`error: ${error.message}`));
    page.on("request", (request) => {
      const asked = request.url().replace(/#.*/, "");
      if (asked !== url && !asked.startsWith("data:")) sins.push(`request: ${asked.slice(0, 200)}`);
    });
    await page.goto(url, { waitUntil: "load" });
    return await use(page, sins);
  } finally {
    await context.close();
  }
}

export function openReport(name, options, use) {
  return open(path.join(folder, `${name}.html`), options, use);
}

// The most resident memory that an open tab took so far, in MiB. Linux alone tells.
export async function peakOfTabs() {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const tabs = processInfo.filter(({ type }) => type === "renderer");
  const peaks = tabs.map(({ id }) => Number(/VmHWM:\s+(\d+) kB/.exec(fs.readFileSync(`/proc/${id}/status`, "utf8"))[1]));
  return Math.round(Math.max(...peaks) / 1024);
}

// A picture to look at, where they are wanted.
export async function shot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
}

export function keepPdf(bytes, name) {
  if (shots) fs.writeFileSync(path.join(shots, `${name}.pdf`), bytes);
}
