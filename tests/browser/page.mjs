// What is asked of every page: that it fits its window and the paper, and that axe finds nothing serious.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// What A4 leaves between the report's margins of 14 mm, in CSS pixels (96 per inch).
export const PAPER_WIDTH = Math.floor(((210 - 2 * 14) / 25.4) * 96);
export const PAPER_HEIGHT = Math.floor(((297 - 2 * 14) / 25.4) * 96);

// How far the page, or the element that sticks out most, reaches over the right edge; elements that scroll by themselves may.
const overhang = () => {
  const width = document.documentElement.clientWidth;
  const over = [];
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest(".scroll") || element.closest("svg")) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 1 || box.left < -1)) over.push(`${element.tagName.toLowerCase()}#${element.id}.${element.className} to ${Math.round(box.right)}`);
  }
  return { page: document.documentElement.scrollWidth - width, over };
};

export async function assertFits(page, where) {
  const { page: wide, over } = await page.evaluate(overhang);
  assert.ok(wide <= 0, `${where}: the page is ${wide} px wider than the window: ${over.slice(0, 5).join("; ")}`);
  assert.deepEqual(over, [], `${where}: elements stick out`);
}

// Relative luminance of a CSS colour "rgb(r, g, b)" (WCAG 2.2).
export function luminance(colour) {
  const [r, g, b] = colour.match(/[\d.]+/g).map((c) => {
    const part = Number(c) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// Evaluated by the debugger, which the page's policy does not bind.
export async function axe(page) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .map((v) => `${v.impact} ${v.id}: ${v.nodes.length} × ${v.nodes[0].target.join(" ")} (${(v.nodes[0].any[0] ?? v.nodes[0].all[0])?.message ?? v.help})`);
}
