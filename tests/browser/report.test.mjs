// The HTML reports of the samples, as their readers use them: offline, without JavaScript, on a phone, on a wide screen, in the dark,
// on paper, by keyboard and with a screen reader. The ids and classes used here are promised in the head of
// crates/report/templates/report.js.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { folder, keepPdf, open, openReport, reports, shot, start, stop } from "./browser.mjs";
import { PAPER_HEIGHT, PAPER_WIDTH, assertFits, axe, luminance } from "./page.mjs";

// Sections that every report of the samples has, in the order in which one reads.
const SECTIONS = ["verdict", "in-full", "tunnel-0", "projection", "quality", "overhead", "method"];

before(start);
after(stop);

const timelineOf = (page) => page.locator("figure.timeline").first();
// What lies beneath it on the same time axis, with the SAs.
const detailOf = (page) => page.locator("#tunnel-0 figure.timeline");

const unfold = (page) => page.evaluate(() => document.querySelectorAll("details").forEach((d) => { d.open = true; }));

// Where the run is drawn on the screen, and how long it is in seconds.
function runOf(page) {
  return timelineOf(page).evaluate((figure) => {
    const svg = figure.querySelector("svg.plot");
    const box = svg.getBoundingClientRect();
    const { left, right, begin, end } = svg.querySelector("g.zoom").dataset;
    const unit = box.width / svg.viewBox.baseVal.width;
    return { left: box.left + left * unit, right: box.left + right * unit, top: box.top, height: box.height, begin: Number(begin), end: Number(end), length: end - begin };
  });
}

const readOut = (page) => timelineOf(page).locator(".tools output").textContent();
const secondsIn = (text) => Number(/^([\d.]+) s/.exec(text)?.[1] ?? NaN);

async function pointAt(page, fraction) {
  const run = await runOf(page);
  await page.mouse.move(run.left + fraction * (run.right - run.left), run.top + run.height * 0.25);
  return run;
}

// The row of a rekey: on the screen, and marked as the one that was gone to.
async function assertAt(page, id) {
  const target = page.locator(`[id="${id}"]`);
  await page.waitForFunction((wanted) => document.querySelector(":target")?.id === wanted, id);
  const box = await target.boundingBox();
  const { height } = page.viewportSize();
  assert.ok(box && box.y >= 0 && box.y < height, `${id} is on the screen (top ${box?.y} of ${height})`);
  const outlines = await target.evaluate((e) => [e, ...e.querySelectorAll("td")].map((of) => getComputedStyle(of).outlineStyle));
  assert.notEqual(outlines[0], "none", `${id} is marked`);
  assert.ok(outlines.slice(1).every((of) => of === "none"), `the outline of ${id} stands around the row, not through its text`);
}

test("a report is there for each of three samples", () => assert.equal(reports.length, 3));

test("Japanese on paper: heads of tables are not set letter by letter, and nothing is cut", () =>
  open(path.join(folder, "japanese", "report.html"), { viewport: { width: PAPER_WIDTH, height: 1000 } }, async (page) => {
    await page.emulateMedia({ media: "print" });
    const { heads, cut } = await page.evaluate(() => ({
      heads: Array.from(document.querySelectorAll("th"), (th) => {
        const range = document.createRange();
        range.selectNodeContents(th);
        return { text: th.textContent, lines: new Set(Array.from(range.getClientRects(), (r) => Math.round(r.top))).size };
      }).filter(({ text, lines }) => lines > 2 && lines > text.length / 2),
      cut: Array.from(document.querySelectorAll(".scroll"), (s) => (s.scrollWidth > s.clientWidth + 1 ? s.getAttribute("aria-label") : "")).filter(Boolean),
    }));
    assert.deepEqual(heads, []);
    assert.deepEqual(cut, []);
  }));

test("these tests see a request, a violated policy and an error", async () => {
  const broken = path.join(folder, "broken.htm");
  const text = fs.readFileSync(path.join(folder, `${reports[0]}.html`), "utf8");
  fs.writeFileSync(broken, text.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "").replace("</main>", '<img src="x.png" alt=""><script>throw new Error("planted")</script></main>'));
  await open(broken, {}, async (page, sins) => {
    assert.ok(sins.some((s) => s.startsWith("request: ") && s.endsWith("x.png")), String(sins));
    assert.ok(sins.some((s) => s === "error: planted"), String(sins));
  });
  fs.writeFileSync(broken, text.replace("</main>", '<p style="width:3000px">wide</p><script>0</script></main>'));
  await open(broken, {}, async (page, sins) => {
    assert.ok(sins.some((s) => /Content Security Policy/.test(s)), String(sins));
  });
});

for (const name of reports) {
  test(`${name}: nothing is asked for, nothing fails, a strict policy`, () =>
    openReport(name, {}, async (page, sins) => {
      const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
      const rules = Object.fromEntries(policy.split(";").map((rule) => rule.trim().split(/\s+(.*)/s)));
      assert.equal(rules["default-src"], "'none'");
      assert.match(rules["script-src"], /^'sha256-[\w+/=]+'$/, "scripts by their hash alone");
      for (const [rule, sources] of Object.entries(rules)) {
        assert.doesNotMatch(`${sources}`, /https?:|\*|unsafe-eval|blob:/, rule);
      }
      // Policies given by a meta element have to come before what they are about.
      assert.ok(await page.evaluate(() => document.querySelector("meta[http-equiv]").compareDocumentPosition(document.querySelector("style")) & Node.DOCUMENT_POSITION_FOLLOWING));
      await page.mouse.wheel(0, 20_000);
      await pointAt(page, 0.5);
      assert.deepEqual(sins, []);
    }));

  test(`${name}: complete without JavaScript`, async () => {
    const contents = () => (document.querySelectorAll("details").forEach((d) => { d.open = true; }), {
      sections: Array.from(document.querySelectorAll("main > section"), (s) => s.id),
      empty: Array.from(document.querySelectorAll("main > section"), (s) => (s.textContent.trim().length < 20 ? s.id : "")).filter(Boolean),
      plots: Array.from(document.querySelectorAll("figure:not(.narrow) svg.plot"), (s) => ({
        title: s.querySelector("title")?.textContent ?? "", desc: s.querySelector("desc")?.textContent ?? "",
        drawn: s.getBoundingClientRect().height > 50 && s.querySelectorAll("polyline, path, rect").length > 3,
      })),
      rows: Array.from(document.querySelectorAll("table"), (t) => t.tBodies[0].rows.length),
      links: Array.from(document.querySelectorAll('a[href^="#"]'), (a) => a.getAttribute("href")).filter((h) => !document.getElementById(h.slice(1))),
      buttons: document.querySelectorAll("button").length,
    });
    const plain = await openReport(name, { javaScriptEnabled: false }, (page) => page.evaluate(contents));
    for (const id of SECTIONS) assert.ok(plain.sections.includes(id), `section ${id} among ${plain.sections}`);
    assert.deepEqual(SECTIONS.filter((id) => plain.sections.includes(id)), plain.sections.filter((id) => SECTIONS.includes(id)), "order of sections");
    assert.deepEqual(plain.empty, [], "empty sections");
    assert.ok(plain.plots.length >= 3, `the run, a panel per rekey: ${plain.plots.length} plots`);
    for (const plot of plain.plots) assert.ok(plot.title && plot.desc && plot.drawn, `a plot with title, description and lines: ${JSON.stringify(plot)}`);
    assert.deepEqual(plain.links, [], "links that lead nowhere");
    assert.equal(plain.buttons, 0, "no button that would do nothing");
    const scripted = await openReport(name, {}, (page) => page.evaluate(contents));
    assert.deepEqual(plain.rows, scripted.rows, "the same tables as with JavaScript");
    assert.equal(plain.plots.length, scripted.plots.length);
  });

  for (const width of [360, 768, 1280, 1920]) {
    test(`${name}: ${width} px wide`, () =>
      openReport(name, { viewport: { width, height: 800 } }, async (page) => {
        await shot(page, `${name}-${width}`);
        await assertFits(page, `${width} px`);
        await unfold(page);
        await page.waitForTimeout(50);
        const wide = await page.evaluate(() => Array.from(document.querySelectorAll(".scroll"), (s) => ({
          name: s.getAttribute("aria-label"), table: s.querySelector("table") !== null, over: s.scrollWidth - s.clientWidth,
          hint: getComputedStyle(s, "::before").content,
        })).filter((s) => s.over > 1));
        assert.deepEqual(wide.filter((s) => s.table).map((s) => `${s.name}: ${s.over}`), [], "no table is cut");
        for (const s of wide) assert.match(s.hint, /→/, `${s.name} says that it scrolls`);
      }));
  }

  for (const colorScheme of ["light", "dark"]) {
    for (const width of [360, 1280]) {
      test(`${name}: axe finds nothing serious, ${colorScheme}, ${width} px`, () =>
        openReport(name, { colorScheme, viewport: { width, height: 800 } }, async (page) => {
          if (width === 1280) await shot(page, `${name}-${colorScheme}`);
          await unfold(page);
          assert.deepEqual(await axe(page), []);
        }));
    }
  }

  test(`${name}: the answer, one picture, and the rest folded`, () =>
    openReport(name, {}, async (page) => {
      const { order, open, plots, ids, frames } = await page.evaluate(() => ({
        order: ["#verdict .sentence", "#verdict .why", "figure.timeline", "#in-full"].map((p) => document.querySelector(p).getBoundingClientRect().top),
        open: Array.from(document.querySelectorAll("main > section"), (s) => (s.querySelector(":scope > details:not([open])") ? "" : s.id)).filter(Boolean),
        plots: Array.from(document.querySelectorAll("svg.plot"), (s) => s.checkVisibility()).filter(Boolean).length,
        ids: Array.from(document.querySelectorAll("h3, td"), (e) => e.innerText).filter((text) => /^[a-z]+(_[a-z]+)+$/.test(text)),
        frames: Array.from(document.querySelectorAll("th"), (th) => th.innerText).filter((text) => text.toLowerCase() === "frames"),
      }));
      assert.ok(order.every((at, n) => n === 0 || at > order[n - 1]), `from top to bottom: ${order}`);
      assert.deepEqual(open, ["verdict"]);
      assert.equal(plots, 1);
      assert.deepEqual(ids, [], "causes are named in words");
      assert.deepEqual(frames, [], "frames stand in a filter");
    }));

  test(`${name}: on a telephone the first screen is the answer`, () =>
    openReport(name, { viewport: { width: 390, height: 844 } }, async (page) => {
      await shot(page, `${name}-390`);
      const last = await page.locator("#verdict .change").boundingBox();
      assert.ok(last.y + last.height < 844, `what to do ends at ${last.y + last.height} px`);
    }));

  test(`${name}: on a telephone the whole run is seen, and its labels are read`, () =>
    openReport(name, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (page) => {
      const { wide, over, texts, cut, hint } = await page.locator("#verdict").evaluate((section) => {
        const figure = section.querySelector("figure.narrow");
        const svg = figure.querySelector("svg.plot");
        const scroll = figure.querySelector(".scroll");
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        const box = svg.getBoundingClientRect();
        const shown = Array.from(svg.querySelectorAll("text")).filter((text) => text.getClientRects().length > 0);
        return {
          wide: section.querySelector("figure.wide").checkVisibility(),
          over: scroll.scrollWidth - scroll.clientWidth,
          texts: shown.map((text) => parseFloat(getComputedStyle(text).fontSize) * scale),
          cut: shown.filter((text) => { const b = text.getBoundingClientRect(); return b.left < box.left - 1 || b.right > box.right + 1; }).map((text) => text.textContent),
          hint: figure.querySelector(".tools output").textContent,
        };
      });
      assert.equal(wide, false);
      assert.ok(over <= 1, `the picture is ${over} px wider than the screen`);
      assert.ok(texts.length > 5 && Math.min(...texts) >= 10, `letters of ${Math.min(...texts)} px`);
      assert.deepEqual(cut, [], "labels that are cut");
      assert.doesNotMatch(hint, /Ctrl|wheel/, "a finger has no wheel");
    }));

  test(`${name}: the transfer fills the run, and what is shaded stalled`, () =>
    openReport(name, {}, async (page) => {
      const { strip, run, begin, end } = await detailOf(page).evaluate((figure) => {
        const svg = figure.querySelector("svg.plot");
        const { left, right, begin, end } = svg.querySelector("g.zoom").dataset;
        const rects = Array.from(svg.querySelectorAll("g.zoom > rect")).filter((r) => r.querySelector("title"));
        const ends = rects.flatMap((r) => [Number(r.getAttribute("x")), Number(r.getAttribute("x")) + Number(r.getAttribute("width"))]);
        return { strip: [Math.min(...ends), Math.max(...ends)], run: [Number(left), Number(right)], begin: Number(begin), end: Number(end) };
      });
      assert.ok(begin >= 0 && end > begin);
      assert.ok((strip[1] - strip[0]) / (run[1] - run[0]) > 0.6, `the transfer takes ${strip} of ${run}`);
    }));

  test(`${name}: dark is dark`, async () => {
    const colours = (colorScheme) => openReport(name, { colorScheme }, (page) => page.evaluate(() => {
      document.querySelectorAll("details").forEach((d) => { d.open = true; });
      const { backgroundColor, color } = getComputedStyle(document.body);
      // Text in a plot, which axe does not look at, with what it stands on: the last opaque shape beneath it, or the page.
      const inks = new Set();
      for (const svg of document.querySelectorAll("svg.plot")) {
        const shapes = Array.from(svg.querySelectorAll("rect, polygon, path"), (shape) => ({ shape, box: shape.getBoundingClientRect(), style: getComputedStyle(shape) }))
          .filter(({ style }) => style.fill.startsWith("rgb(") && Number(style.fillOpacity) * Number(style.opacity) > 0.5);
        for (const text of svg.querySelectorAll("text")) {
          const box = text.getBoundingClientRect();
          const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
          const under = shapes.filter((s) => s.shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING && s.box.left <= x && x <= s.box.right && s.box.top <= y && y <= s.box.bottom);
          if (box.width > 0) inks.add(`${getComputedStyle(text).fill} on ${under.at(-1)?.style.fill ?? backgroundColor}`);
        }
      }
      return { backgroundColor, color, inks: Array.from(inks) };
    }));
    const light = await colours("light");
    const dark = await colours("dark");
    assert.ok(luminance(light.backgroundColor) > 0.8 && luminance(light.color) < 0.1, JSON.stringify(light));
    assert.ok(luminance(dark.backgroundColor) < 0.1 && luminance(dark.color) > 0.6, JSON.stringify(dark));
    for (const scheme of [light, dark]) {
      assert.ok(scheme.inks.length > 0);
      // WCAG 2.2, 1.4.3: 4.5 to 1 for text of this size.
      const faint = scheme.inks.map((pair) => {
        const [bright, dim] = pair.split(" on ").map(luminance).sort((a, b) => b - a);
        return { pair, contrast: (bright + 0.05) / (dim + 0.05) };
      }).filter(({ contrast }) => contrast < 4.5);
      assert.deepEqual(faint.map(({ pair, contrast }) => `${pair}: ${contrast.toFixed(2)}`), [], "text in plots that is hard to read");
    }
  });

  test(`${name}: on paper`, () =>
    openReport(name, { colorScheme: "dark" }, async (page) => {
      const pdf = await page.pdf({ format: "A4", preferCSSPageSize: true, printBackground: false });
      keepPdf(pdf, name);
      const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
      assert.ok(pages > 0 && pages <= 13, `${pages} pages`);
      await page.setViewportSize({ width: PAPER_WIDTH, height: 1000 });
      await page.emulateMedia({ media: "print" });
      // Nothing can be scrolled on paper; Chromium shrinks the whole report until the widest table fits.
      const cut = await page.evaluate(() => Array.from(document.querySelectorAll(".scroll"), (s) => (s.scrollWidth > s.clientWidth + 1 ? `${s.getAttribute("aria-label")}: ${s.scrollWidth} of ${s.clientWidth}` : "")).filter(Boolean));
      assert.deepEqual(cut, [], "tables and plots that are wider than A4");
      await assertFits(page, "A4");
      assert.ok(luminance(await page.evaluate(() => getComputedStyle(document.body).color)) < 0.1, "dark ink on paper, whatever the screen's scheme");
      assert.equal(await page.locator("button:visible").count(), 0, "no buttons on paper");
      const first = await page.locator("#verdict").evaluate((section) => ({ bottom: section.getBoundingClientRect().bottom, after: getComputedStyle(section).breakAfter }));
      assert.ok(first.bottom < PAPER_HEIGHT && first.after === "page", `the answer and its picture are page one: ${JSON.stringify(first)}`);
      assert.equal(await page.locator("#verdict .brief:visible").count(), await page.locator("#verdict .brief").count(), "so are where the time went and the rekeys that cost most");
      assert.ok(first.bottom > 0.6 * PAPER_HEIGHT, `page one is filled: ${JSON.stringify(first)}`);
      const alone = await page.evaluate(() => [["h2, h3, summary", "breakAfter"], ["figcaption, p.note", "breakBefore"], ["figure, .figures, tr", "breakInside"]]
        .flatMap(([which, what]) => Array.from(document.querySelectorAll(which)).filter((e) => getComputedStyle(e)[what] !== "avoid" && !e.closest("summary")?.contains(e.parentNode)).map((e) => `${e.tagName} ${what}`)));
      assert.deepEqual([...new Set(alone)], [], "no heading at the foot of a page, no caption alone on the next");
      assert.doesNotMatch(await page.locator("main").innerText(), /click/, "nothing is clicked on paper");
    }));

  test(`${name}: the button beside a filter or command copies it`, () =>
    openReport(name, {}, async (page) => {
      await unfold(page);
      const codes = page.locator("code.copy");
      const count = await codes.count();
      assert.ok(count > 0);
      for (const index of new Set([0, count - 1])) {
        const code = codes.nth(index);
        const button = code.locator("xpath=following-sibling::*[1][self::button]");
        assert.ok(((await button.getAttribute("aria-label")) ?? "").startsWith("Copy"));
        await button.click();
        await page.evaluate(() => {
          const area = document.body.appendChild(document.createElement("textarea"));
          area.id = "pasted";
          area.focus();
        });
        await page.keyboard.press("Control+V");
        assert.equal(await page.locator("#pasted").inputValue(), await code.textContent());
        await page.evaluate(() => document.getElementById("pasted").remove());
      }
    }));

  test(`${name}: the packets around a rekey say their frames, and a click copies their filter`, () =>
    openReport(name, {}, async (page, sins) => {
      await page.locator("#tunnel-0 > details").evaluate((d) => { d.open = true; });
      const open = page.locator("details.close-up[open]");
      assert.equal(await open.count(), 1, "one is seen without asking");
      assert.ok((await page.locator("details.close-up").count()) >= 5);
      const figure = open.locator("figure");
      const code = figure.locator("code.copy");
      const whole = await code.textContent();
      assert.match(whole, /^frame\.number >= \d+ && frame\.number <= \d+$/);
      await figure.scrollIntoViewIfNeeded();
      // What the pointer meets in the middle of each shape, and what is said there.
      const met = await figure.evaluate((f) => Array.from(f.querySelectorAll("g[data-frames] > path"), (shape) => {
        shape.scrollIntoView({ block: "nearest" });
        const box = shape.getBoundingClientRect();
        const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2)?.closest("[data-frames]");
        return { title: top?.querySelector("title").textContent ?? "", frames: (top?.dataset.frames ?? "").split(" ").map(Number) };
      }));
      assert.ok(met.length > 50, `${met.length} places to point at`);
      const [, first, last] = /(\d+) && frame\.number <= (\d+)/.exec(whole).map(Number);
      for (const { title, frames } of met) {
        assert.match(title, /frames? \d+/, "a place names its frames");
        assert.ok(frames.every((n) => n >= first && n <= last && title.includes(String(n))), `${title}: ${frames}`);
      }
      assert.ok(met.some(({ title }) => /message|Quick Mode|CREATE_CHILD_SA/.test(title)), "the messages are met too");
      // A click copies it.
      const place = figure.locator("g[data-frames] > path").nth(20);
      const [from, to] = await place.evaluate((shape) => shape.parentNode.dataset.frames.split(" ").map(Number));
      assert.ok(to > from);
      await place.click();
      const wanted = `frame.number >= ${from} && frame.number <= ${to}`;
      assert.equal(await code.textContent(), wanted);
      await page.evaluate(() => {
        const area = document.body.appendChild(document.createElement("textarea"));
        area.id = "pasted";
        area.focus();
      });
      await page.keyboard.press("Control+V");
      assert.equal(await page.locator("#pasted").inputValue(), wanted);
      assert.deepEqual(sins, []);
    }));

  test(`${name}: a rekey in the run, its row and its panel lead to each other`, () =>
    openReport(name, {}, async (page, sins) => {
      const marks = timelineOf(page).locator('svg.plot a[href^="#rekey-"]');
      const hrefs = await marks.evaluateAll((all) => all.map((a) => a.getAttribute("href")));
      assert.ok(hrefs.length >= 5, `a mark for each rekey: ${hrefs}`);
      const last = hrefs.length - 1;
      await marks.nth(last).locator("rect.hit").click();
      await assertAt(page, hrefs[last].slice(1));
      const row = page.locator(`tr[id="${hrefs[0].slice(1)}"]`);
      // By keyboard.
      await marks.first().focus();
      await page.keyboard.press("Enter");
      await assertAt(page, hrefs[0].slice(1));
      // The row's number leads to the panel, the panel back to the row.
      const panel = await row.locator('a[href^="#panel-"]').first().getAttribute("href");
      await row.locator(`a[href="${panel}"]`).click();
      await assertAt(page, panel.slice(1));
      await page.locator(`figure[id="${panel.slice(1)}"] a`).click();
      await assertAt(page, hrefs[0].slice(1));
      assert.deepEqual(sins, []);
    }));

  test(`${name}: the run is read by pointing at it`, () =>
    openReport(name, {}, async (page) => {
      await timelineOf(page).scrollIntoViewIfNeeded();
      const hint = await readOut(page);
      // The data begin after the first tenth of the samples' runs; then there is a rate to read.
      for (const fraction of [0.05, 0.5, 0.8]) {
        const run = await pointAt(page, fraction);
        const text = await readOut(page);
        const pixel = run.length / (run.right - run.left);
        // A pixel for where the pointer is, half a unit of the last of two digits for how it is written.
        assert.ok(Math.abs(secondsIn(text) - run.begin - fraction * run.length) <= pixel + 0.005, `at ${fraction} of ${run.begin} to ${run.end} s: ${text}`);
        if (fraction >= 0.5) assert.match(text, /: (at least )?\d+(\.\d+)? [MGk]?bit\/s/, `a rate at ${fraction} of ${run.end} s`);
      }
      await page.mouse.move(2, 2);
      assert.equal(await readOut(page), hint);
    }));

  test(`${name}: what the time went to, as a bar and as a strip`, (context) =>
    openReport(name, {}, async (page, sins) => {
      if ((await page.locator("#account").count()) === 0) return context.skip("this document has no account");
      await unfold(page);
      const { parts, width, legend, strip, run, colours } = await page.evaluate(() => {
        const bar = document.querySelector("#account svg.account");
        const box = (e) => e.getBoundingClientRect();
        const svg = document.querySelector("#tunnel-0 figure.timeline svg.plot");
        const rects = Array.from(svg.querySelectorAll("g.zoom > rect")).filter((r) => r.querySelector("title"));
        const { left, right } = svg.querySelector("g.zoom").dataset;
        return {
          parts: Array.from(bar.querySelectorAll("rect"), (r) => ({ width: box(r).width, title: r.querySelector("title").textContent, fill: r.getAttribute("fill") })),
          width: bar.clientWidth,
          legend: Array.from(bar.parentNode.querySelectorAll(".legend li"), (li) => ({ text: li.innerText.trim(), fill: li.querySelector("rect").getAttribute("fill") })),
          strip: rects.map((r) => ({ from: Number(r.getAttribute("x")), width: Number(r.getAttribute("width")), title: r.querySelector("title").textContent, fill: r.getAttribute("fill") })),
          run: { left: Number(left), right: Number(right) },
          colours: Array.from(document.querySelectorAll("#account svg.account rect"), (r) => r.getAttribute("fill")),
        };
      });
      const sum = parts.reduce((all, part) => all + part.width, 0);
      // Each end of a part is rounded to a thousandth of a percent of the bar.
      assert.ok(Math.abs(sum - width) <= (parts.length * width) / 1e5 + 0.5, `parts of ${sum} px in a bar of ${width} px`);
      assert.deepEqual(legend.map((l) => [l.text, l.fill]), parts.map((p) => [p.title, p.fill]), "the legend says the same as the parts");
      assert.ok(strip.length > 0 && strip.every((s) => /: .+ m?s, frames \d+ to \d+$/.test(s.title)), JSON.stringify(strip[0]));
      assert.ok(strip.every((s) => s.from >= run.left && s.from + s.width <= run.right), "the strip lies under the run");
      assert.ok(strip.every((s) => colours.includes(s.fill)), "the colours of the bars");
      // What a stretch says is read at the pointer: nothing lies over it.
      const longest = strip.indexOf(strip.reduce((a, b) => (b.width > a.width ? b : a)));
      const top = await page.evaluate((n) => {
        const svg = document.querySelector("#tunnel-0 figure.timeline svg.plot");
        const rect = Array.from(svg.querySelectorAll("g.zoom > rect")).filter((r) => r.querySelector("title"))[n];
        rect.scrollIntoView({ block: "center" });
        const box = rect.getBoundingClientRect();
        return document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2) === rect;
      }, longest);
      assert.ok(top, "the stretch is what the pointer meets");
      assert.deepEqual(sins, []);
    }));

  test(`${name}: the axis and the SPIs follow the zoom`, () =>
    openReport(name, {}, async (page) => {
      const figure = detailOf(page);
      await unfold(page);
      const tool = (label) => figure.locator(`.tools button[aria-label="${label}"]`);
      const shown = () => figure.evaluate((f) => {
        const svg = f.querySelector("svg.plot");
        const { left, right, begin, end } = svg.querySelector("g.zoom").dataset;
        const [, scale, shift] = [0, Number(/scale\(([\d.]+)/.exec(svg.querySelector("g.zoom").getAttribute("transform"))?.[1] ?? 1), Number(/translate\((-?[\d.]+)/.exec(svg.querySelector("g.zoom").getAttribute("transform"))?.[1] ?? 0)];
        const visible = (e) => e.getClientRects().length > 0;
        const ticks = Array.from(svg.querySelectorAll("text")).filter((t) => visible(t) && t.getAttribute("y") === svg.querySelector("g.ticks text:nth-of-type(2)").getAttribute("y"));
        const at = (seconds) => (Number(left) + ((seconds - begin) / (end - begin)) * (right - left)) * scale + shift;
        return {
          scale,
          ticks: ticks.map((t) => ({ text: t.textContent.trim(), off: Number(t.getAttribute("x")) - at(Number(t.textContent)) })),
          spis: Array.from(svg.querySelectorAll("g.spis text")).filter(visible).map((t) => ({ text: t.textContent, at: Number(t.getAttribute("x")) })),
          room: [Number(left), Number(right)],
        };
      });
      const whole = await shown();
      for (let n = 0; n < 3; n++) await tool("Zoom in").click();
      const zoomed = await shown();
      assert.equal(zoomed.scale, 8);
      assert.ok(zoomed.ticks.length >= 3, JSON.stringify(zoomed.ticks));
      for (const { ticks } of [whole, zoomed]) assert.deepEqual(ticks.filter(({ off }) => !(Math.abs(off) <= 2)), [], "a tick stands at its second");
      assert.equal(new Set(zoomed.ticks.map((t) => t.text)).size, zoomed.ticks.length);
      assert.ok(zoomed.spis.length > 0 && zoomed.spis.every(({ text, at }) => /^0x/.test(text) && at >= zoomed.room[0] && at <= zoomed.room[1]), JSON.stringify(zoomed));
      // What is too short for its SPI has room for it now.
      const seen = new Set(whole.spis.map((s) => s.text));
      const roomy = await figure.evaluate((f) => Array.from(f.querySelectorAll("g.spis text"))
        .filter((t) => (t.dataset.to - t.dataset.from) * 8 >= Number(t.parentNode.dataset.least)).map((t) => t.textContent));
      assert.ok(roomy.length > 0);
      for (let n = 0; n < 40; n++) await tool("Earlier").click();
      for (let n = 0; n < 40; n++) {
        for (const { text } of (await shown()).spis) seen.add(text);
        await tool("Later").click();
      }
      assert.deepEqual(roomy.filter((text) => !seen.has(text)), [], "every SPI that has room is seen");
      await tool("Show the whole run").click();
      assert.deepEqual((await shown()).spis, whole.spis);
    }));

  test(`${name}: zoom and pan`, () =>
    openReport(name, {}, async (page, sins) => {
      const figure = timelineOf(page);
      await figure.scrollIntoViewIfNeeded();
      const tool = (label) => figure.locator(`.tools button[aria-label="${label}"]`);
      const transform = () => figure.locator("g.zoom").first().getAttribute("transform");
      const scale = async () => Number(/scale\(([\d.]+)/.exec((await transform()) ?? "")?.[1] ?? 1);
      const zoomed = () => figure.locator("svg.plot.zoomed").count();
      // Seconds at a point of the run, by the read-out.
      const at = async (fraction) => {
        await pointAt(page, fraction);
        return secondsIn(await readOut(page));
      };
      const { begin, length } = await runOf(page);
      const near = (value, wanted, what) => assert.ok(Math.abs(value - wanted) <= length / 300, `${what}: ${value}, wanted ${wanted}`);

      await tool("Zoom in").click();
      assert.equal(await scale(), 2);
      assert.equal(await zoomed(), 1);
      near(await at(0), begin + length / 4, "left edge at twice the size");
      near(await at(1), begin + (3 * length) / 4, "right edge at twice the size");
      await tool("Later").click();
      near(await at(0), begin + (3 * length) / 8, "a quarter of what is shown further");
      await tool("Earlier").click();
      await tool("Earlier").click();
      await tool("Earlier").click();
      near(await at(0), begin, "not beyond the beginning");
      await tool("Show the whole run").click();
      assert.equal(await scale(), 1);
      assert.equal(await zoomed(), 0);

      // Ctrl and wheel keep what is under the pointer.
      const before = await at(0.25);
      await page.keyboard.down("Control");
      await page.mouse.wheel(0, -100);
      await page.mouse.wheel(0, -100);
      await page.keyboard.up("Control");
      await page.waitForFunction(() => document.querySelector("svg.plot.zoomed"));
      near(await at(0.25), before, "under the pointer");
      // Dragging to the left shows what comes later.
      const middle = await at(0.5);
      const run = await runOf(page);
      const [x, y] = [(run.left + run.right) / 2, run.top + run.height * 0.25];
      const address = page.url();
      await page.mouse.down();
      await page.mouse.move(x - 60, y, { steps: 4 });
      await page.mouse.up();
      assert.ok((await at(0.5)) > middle, "later after dragging to the left");
      assert.equal(page.url(), address, "a drag is not a click");
      // Without Ctrl the wheel scrolls the page and leaves the plot alone.
      const size = await scale();
      await page.mouse.wheel(0, 100);
      assert.equal(await scale(), size);
      assert.deepEqual(sins, []);
    }));
}
