// How long Chromium takes from asking for a report to having drawn it: node opens.mjs FILE. Prints milliseconds, smallest of three.
import path from "node:path";
import { chromium } from "playwright-core";

const OPENINGS = 3;
const file = path.resolve(process.argv[2]);
const root = process.getuid?.() === 0;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: root ? ["--no-sandbox"] : [] });
let least = Infinity;
for (let opening = 0; opening < OPENINGS; opening++) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const began = performance.now();
  await page.goto(`file://${file}`, { waitUntil: "load" });
  // Two frames: the first one after the load is on the screen then.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  least = Math.min(least, performance.now() - began);
  await page.close();
}
await browser.close();
console.log(Math.round(least));
