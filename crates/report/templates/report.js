// Comfort on top of a page that is complete without it: reading rates off the run, zooming into it, copying filters.
//
// What tests and other scripts may rely on (nothing else is stable):
//   #verdict                 the answer and the first picture; then, each folded (section > details), as far as there is something to say:
//   #in-full #tunnel-N #causes #account #projection #verdicts #transfers #two-points #overlays #findings #quality
//   #overhead #oddities #method
//   #rekey-N                 row of rekey N (or 1-N, of tunnel 1, where several have rekeys) in its table (a <tr>), #panel-N the figure of its panel
//   figure.timeline          the whole run, and in #tunnel-N what lies beneath it; within it svg.plot, and div.tools (made here) with its buttons
//   div.tools button[aria-label="Zoom in"|"Zoom out"|"Earlier"|"Later"|"Show the whole run"], div.tools output
//                            (English page; the labels of others are body[data-zoom-in], …)
//   svg.account              the bar of a direction's whole time, a rect with a title per label; ol.legend its legend
//   g.spis text[data-from][data-to]  the SPI of an SA, shown where its bar is wide enough
//   svg.plot.zoomed          while the run is zoomed into; g.zoom layers are stretched, line.cursor follows the pointer
//   svg.plot a[href=#rekey-N]  the mark of rekey N; .panels a[href=#rekey-N] its panel; both lead to its row
//   .scroll.more             is wider than its place, and says so
//   figure#close-up-N        the packets around rekey N; within it svg.plot g[data-frames="FIRST LAST"] with a title: a click puts their filter into its code.copy
//   code.copy + button.small a display filter or command, and the button (made here) that copies it
(function () {
  "use strict";
  var NS = "http://www.w3.org/2000/svg";
  // What it says, in the language of the page.
  var words = document.body.dataset;
  // A finger neither hovers nor has a wheel.
  var hovers = window.matchMedia("(hover: hover)").matches;

  function element(name, parent, text) {
    var e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  }

  function button(parent, text, label, action) {
    var b = element("button", parent, text);
    b.type = "button";
    b.setAttribute("aria-label", label);
    b.addEventListener("click", action);
    return b;
  }

  // ---- copying ----

  function copy(code, done) {
    var range = document.createRange();
    range.selectNodeContents(code);
    var selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    // A page opened from a file has no clipboard API in every browser; the selection is there in any case.
    var ok = false;
    try { ok = document.execCommand("copy"); } catch (e) { ok = false; }
    done(ok ? words.copied : words.selected);
  }

  document.querySelectorAll("code.copy").forEach(function (code) {
    if (!code.textContent) return;
    var b = button(null, words.copy, words.copyLabel, function () {
      copy(code, function (word) {
        b.textContent = word;
        setTimeout(function () { b.textContent = words.copy; }, 1500);
      });
    });
    b.className = "small";
    code.insertAdjacentElement("afterend", b);
  });

  // ---- what is folded ----

  // What a link leads to is unfolded; not every browser does that by itself.
  function unfold() {
    var target = document.getElementById(location.hash.slice(1));
    for (var e = target; e; e = e.parentElement) {
      if (e.tagName === "DETAILS") e.open = true;
    }
    if (target) target.scrollIntoView({ block: "nearest" });
  }

  window.addEventListener("hashchange", unfold);
  unfold();

  // ---- packets around a rekey ----

  // What is clicked at puts its filter where that of the whole plot stands, and copies it.
  document.querySelectorAll(".close-up figure").forEach(function (figure) {
    var code = figure.querySelector("code.copy");
    figure.querySelector("svg.plot").addEventListener("click", function (event) {
      var picked = event.target.closest("[data-frames]");
      if (!picked || !code.nextElementSibling) return;
      var ends = picked.dataset.frames.split(" ");
      code.textContent = ends[0] === ends[1] ? "frame.number == " + ends[0] : "frame.number >= " + ends[0] + " && frame.number <= " + ends[1];
      code.nextElementSibling.click();
    });
    var bar = element("div", null);
    bar.className = "tools";
    element("output", bar, hovers ? words.pickHint : words.pickTouch);
    figure.insertBefore(bar, figure.firstChild);
  });

  // ---- what scrolls ----

  // A word where something is wider than its place, gone at its right end.
  function hints() {
    document.querySelectorAll(".scroll").forEach(function (s) {
      s.dataset.more = words.scroll;
      s.classList.toggle("more", s.scrollWidth > s.clientWidth + 1);
    });
  }

  hints();
  window.addEventListener("resize", hints);
  document.addEventListener("toggle", hints, true);

  // ---- the whole run ----

  // Points of a line, in drawing units.
  function pointsOf(line) {
    return line.getAttribute("points").trim().split(" ").map(function (p) {
      var xy = p.split(",");
      return [Number(xy[0]), Number(xy[1])];
    });
  }

  function rateAt(points, x) {
    if (!points.length || x < points[0][0] || x > points[points.length - 1][0]) return null;
    var low = 0, high = points.length - 1;
    while (high - low > 1) {
      var middle = (low + high) >> 1;
      if (points[middle][0] <= x) low = middle; else high = middle;
    }
    return (x - points[low][0] < points[high][0] - x ? points[low] : points[high])[1];
  }

  function step(span) {
    var power = Math.pow(10, Math.floor(Math.log10(span / 8)));
    var factor = [1, 2, 5, 10].find(function (f) { return f * power >= span / 8; });
    return (factor || 10) * power;
  }

  function timeline(figure) {
    var svg = figure.querySelector("svg.plot");
    var zooms = svg ? Array.from(svg.querySelectorAll("g.zoom")) : [];
    if (!zooms.length) return;
    var left = Number(zooms[0].dataset.left), right = Number(zooms[0].dataset.right);
    var begin = Number(zooms[0].dataset.begin), end = Number(zooms[0].dataset.end), length = end - begin;
    var width = right - left;
    var height = svg.viewBox.baseVal.height;
    var lanes = zooms.filter(function (g) { return g.dataset.name; }).map(function (g) {
      // The longest line of a lane is its curve; the others mark rekeys.
      var lines = Array.from(g.querySelectorAll("polyline"));
      if (!lines.length) return { data: g.dataset, points: [] };
      var curve = lines.reduce(function (a, b) {
        return b.getAttribute("points").length > a.getAttribute("points").length ? b : a;
      });
      return { data: g.dataset, points: pointsOf(curve) };
    });
    var labels = Array.from(svg.querySelectorAll("g.labels > text")).map(function (t) {
      return { node: t, x: Number(t.getAttribute("x")), half: 6 * t.textContent.trim().length };
    });
    // The SPI of each SA, within its bar; whether it is shown says how wide the bar is.
    var spis = Array.from(svg.querySelectorAll("g.spis text")).map(function (t) {
      var d = t.dataset, parent = t.parentNode.dataset;
      return { node: t, from: Number(d.from), to: Number(d.to), least: Number(parent.least) };
    });
    var marks = Array.from(svg.querySelectorAll("a rect.hit")).map(function (r) {
      var x = Number(r.getAttribute("x"));
      return { from: x, to: x + Number(r.getAttribute("width")), title: r.parentNode.querySelector("title").textContent };
    });
    var ticks = svg.querySelector("g.ticks");
    var numbers = Array.from(ticks.querySelectorAll("text")).filter(function (t) { return /^[\d.:]+$/.test(t.textContent.trim()); });
    var pattern = numbers[0];
    // The marks at the numbers: the short lines, not the axes.
    var strokes = Array.from(ticks.querySelectorAll("polyline")).filter(function (line) {
      var p = pointsOf(line);
      return p[0][0] === p[1][0] && Math.abs(p[0][1] - p[1][1]) < 20;
    });
    var own = svg.insertBefore(document.createElementNS(NS, "g"), ticks);
    var cursor = document.createElementNS(NS, "line");
    cursor.setAttribute("class", "cursor");
    cursor.setAttribute("y1", lanes.length ? lanes[0].data.yTop : 0);
    cursor.setAttribute("y2", height - 84);
    svg.appendChild(cursor);

    var scale = 1, from = 0; // shown: [from, from + 1 / scale] of what is drawn

    function shown(x) { return left + ((x - left) / width - from) * scale * width; }
    function seconds(x) { return begin + (from + (x - left) / width / scale) * length; }

    // As the ticks of the whole run are written: from an hour on h:mm:ss.
    function clock(t, digits) {
      if (end < 3600) return t.toFixed(digits);
      var rest = (t % 60).toFixed(digits), minutes = Math.floor(t / 60);
      return Math.floor(minutes / 60) + ":" + String(minutes % 60).padStart(2, "0") + ":" + (rest.split(".")[0].length < 2 ? "0" : "") + rest;
    }

    function drawTicks() {
      own.textContent = "";
      numbers.concat(strokes).forEach(function (t) { t.style.display = scale > 1 ? "none" : ""; });
      if (scale <= 1 || !pattern) return;
      var span = length / scale, size = step(span), start = begin + from * length, first = Math.ceil(start / size) * size;
      var digits = Math.max(0, -Math.floor(Math.log10(size)));
      for (var t = first; t <= start + span; t += size) {
        var text = pattern.cloneNode(false);
        text.style.display = "";
        var x = Math.round(shown(left + (t - begin) / length * width));
        text.setAttribute("x", x);
        text.setAttribute("text-anchor", "middle");
        text.textContent = clock(t, digits);
        own.appendChild(text);
        if (!strokes.length) continue;
        var stroke = strokes[0].cloneNode(false);
        stroke.style.display = "";
        stroke.setAttribute("points", pointsOf(strokes[0]).map(function (p) { return x + "," + p[1]; }).join(" "));
        own.appendChild(stroke);
      }
    }

    function show() {
      from = Math.min(Math.max(from, 0), 1 - 1 / scale);
      var shift = left - (left + from * width) * scale;
      zooms.forEach(function (g) { g.setAttribute("transform", "translate(" + shift + ",0) scale(" + scale + ",1)"); });
      labels.forEach(function (l) {
        var x = shown(l.x);
        l.node.setAttribute("x", Math.round(x));
        l.node.style.display = x - l.half < left - 30 || x + l.half > right + 30 ? "none" : "";
      });
      spis.forEach(function (s) {
        var x0 = Math.max(shown(s.from), left), x1 = Math.min(shown(s.to), right);
        s.node.setAttribute("x", Math.floor((x0 + x1) / 2));
        s.node.setAttribute("display", x1 - x0 >= s.least ? "inline" : "none");
      });
      svg.classList.toggle("zoomed", scale > 1);
      drawTicks();
    }

    function zoom(factor, at) {
      var fixed = from + at / scale;
      scale = Math.min(Math.max(scale * factor, 1), 200);
      from = fixed - at / scale;
      show();
    }

    function unitsOf(event) {
      var box = svg.getBoundingClientRect();
      return (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    }

    function read(x) {
      if (x < left || x > right) return hide();
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      cursor.style.display = "block";
      var raw = left + (from + (x - left) / width / scale) * width;
      var parts = [seconds(x).toFixed(scale > 4 ? 3 : 2) + " s"];
      lanes.forEach(function (lane) {
        var y = rateAt(lane.points, raw), d = lane.data;
        if (y === null) return;
        var bottom = Number(d.bottom || 0);
        var rate = bottom + (Number(d.yBottom) - y) / (Number(d.yBottom) - Number(d.yTop)) * (Number(d.top) - bottom);
        // A burst that is cut off at the top is higher than what can be read here.
        var least = y - Number(d.yTop) < 1 ? words.atLeast + " " : "";
        parts.push(d.name + ": " + least + rate.toFixed(rate < 10 ? 2 : rate < 100 ? 1 : 0) + " " + d.unit);
      });
      marks.filter(function (m) { return raw >= m.from && raw <= m.to; }).slice(0, 2).forEach(function (m) {
        parts.push(m.title);
      });
      output.textContent = parts.join("   ·   ");
    }

    function hide() {
      cursor.style.display = "none";
      output.textContent = hint;
    }

    var hint = hovers ? words.hint : words.touch;
    var bar = element("div", null);
    bar.className = "tools";
    button(bar, "+", words.zoomIn, function () { zoom(2, 0.5); });
    button(bar, "−", words.zoomOut, function () { zoom(0.5, 0.5); });
    button(bar, "←", words.earlier, function () { from -= 0.25 / scale; show(); });
    button(bar, "→", words.later, function () { from += 0.25 / scale; show(); });
    button(bar, words.whole, words.wholeLabel, function () { scale = 1; from = 0; show(); });
    var output = element("output", bar, hint);
    figure.querySelector(".scroll").insertAdjacentElement("afterend", bar);

    var drag = null;
    svg.addEventListener("pointermove", function (event) {
      var x = unitsOf(event);
      if (drag && scale > 1) {
        from = drag.from - (x - drag.x) / width / scale;
        drag.moved = drag.moved || Math.abs(x - drag.x) > 6;
        show();
      }
      read(x);
    });
    svg.addEventListener("pointerleave", function (event) { if (event.pointerType !== "touch") hide(); });
    svg.addEventListener("pointerdown", function (event) {
      read(unitsOf(event));
      if (event.button === 0 && event.pointerType === "mouse") drag = { x: unitsOf(event), from: from, moved: false };
    });
    window.addEventListener("pointerup", function () { setTimeout(function () { drag = null; }, 0); });
    svg.addEventListener("dragstart", function (event) { event.preventDefault(); });
    svg.addEventListener("click", function (event) {
      // The end of a drag is not a click on the mark beneath it.
      if (drag && drag.moved) event.preventDefault();
    }, true);
    svg.addEventListener("wheel", function (event) {
      if (!event.ctrlKey) return;
      event.preventDefault();
      var at = Math.min(Math.max((unitsOf(event) - left) / width, 0), 1);
      zoom(event.deltaY < 0 ? 1.25 : 0.8, at);
    }, { passive: false });
  }

  document.querySelectorAll("figure.timeline").forEach(timeline);
})();
