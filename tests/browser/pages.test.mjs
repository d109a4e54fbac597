// The pages over several captures: the index, which leads to a report each, and the comparison.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { folder, keepPdf, open, shot, start, stop } from "./browser.mjs";
import { PAPER_WIDTH, assertFits, axe } from "./page.mjs";

const pages = path.join(folder, "pages");
const openPage = (name, options, use) => open(path.join(pages, `${name}.html`), options, use);

before(start);
after(stop);

for (const name of ["index", "comparison"]) {
  test(`${name}: nothing is asked for, nothing fails, a strict policy`, () =>
    openPage(name, {}, async (page, sins) => {
      const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
      assert.match(policy, /default-src 'none'/);
      assert.doesNotMatch(policy, /https?:|\*|unsafe-eval|blob:/);
      assert.deepEqual(sins, []);
    }));

  test(`${name}: the same without JavaScript`, async () => {
    const text = (page) => page.evaluate(() => document.querySelector("main").innerText);
    const plain = await openPage(name, { javaScriptEnabled: false }, text);
    assert.equal(plain, await openPage(name, {}, text));
    assert.ok(plain.length > 200, plain);
  });

  for (const width of [360, 768, 1920]) {
    test(`${name}: ${width} px wide`, () =>
      openPage(name, { viewport: { width, height: 800 } }, async (page) => {
        await shot(page, `${name}-${width}`);
        await assertFits(page, `${width} px`);
      }));
  }

  for (const colorScheme of ["light", "dark"]) {
    test(`${name}: axe finds nothing serious, ${colorScheme}`, () =>
      openPage(name, { colorScheme }, async (page) => {
        await shot(page, `${name}-${colorScheme}`);
        assert.deepEqual(await axe(page), []);
      }));
  }

  test(`${name}: on paper`, () =>
    openPage(name, {}, async (page) => {
      keepPdf(await page.pdf({ format: "A4", preferCSSPageSize: true, printBackground: false }), name);
      await page.setViewportSize({ width: PAPER_WIDTH, height: 1000 });
      await page.emulateMedia({ media: "print" });
      const cut = await page.evaluate(() => Array.from(document.querySelectorAll(".scroll"), (s) => s.scrollWidth - s.clientWidth).filter((over) => over > 1));
      assert.deepEqual(cut, [], "tables and plots that are wider than A4");
      await assertFits(page, "A4");
    }));
}

test("index: a line per capture, each leads to its report", () =>
  openPage("index", {}, async (page) => {
    const links = await page.locator("table.index tbody a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    const reports = fs.readdirSync(pages).filter((file) => file.endsWith(".html") && !["index.html", "comparison.html"].includes(file));
    assert.deepEqual([...links].sort(), reports.sort());
    assert.equal(links.length, 3);
    await page.locator(`a[href="${links[0]}"]`).click();
    await page.waitForSelector("#verdict");
  }));

test("comparison: a row per capture and a plot with a title", () =>
  openPage("comparison", {}, async (page) => {
    assert.equal(await page.locator("#captures tbody tr").count(), 3);
    assert.ok(await page.locator("svg.plot > title").first().textContent());
    assert.ok((await page.locator("#answer .sentence").textContent()).length > 40);
  }));

for (const width of [360, 1920]) {
  test(`a report in Japanese: ${width} px wide`, () =>
    open(path.join(folder, "japanese", "report.html"), { viewport: { width, height: 800 } }, async (page, sins) => {
      assert.equal(await page.locator("html").getAttribute("lang"), "ja");
      assert.match(await page.locator("figure.timeline .tools output").first().innerText(), /ドラッグ/);
      await shot(page, `japanese-${width}`);
      await assertFits(page, `${width} px`);
      assert.deepEqual(sins, []);
    }));
}
