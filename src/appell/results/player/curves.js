"use strict";
// Curves against time on a canvas, with a cursor at the time that is shown; a click or drag seeks.

/** Round steps that divide a range into about `count` parts. */
function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough)), share = rough / power;
  const step = power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10), found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

const shown = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3 ? x.toExponential(0) : String(+x.toPrecision(3))).replace("-", "−");
const ROOM = { left: 46, right: 8, top: 18, bottom: 16 };
const DASHES = [[], [6, 3], [2, 2], [6, 2, 2, 2], [8, 2, 2, 2, 2, 2]];

class Curves {
  constructor(parent, panel, span, impacts, rests, seek) {
    Object.assign(this, { panel, span, impacts, rests });
    this.box = document.createElement("div");
    this.box.className = "curves";
    this.canvas = this.box.appendChild(document.createElement("canvas"));
    this.cursor = this.box.appendChild(document.createElement("div"));
    this.cursor.className = "cursor";
    parent.appendChild(this.box);
    const go = (event) => seek(this.time(event.clientX - this.box.getBoundingClientRect().left));
    this.box.addEventListener("pointerdown", (event) => {
      this.box.setPointerCapture(event.pointerId);
      go(event);
    });
    this.box.addEventListener("pointermove", (event) => event.buttons && go(event));
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  get width() {
    return Math.max(this.box.clientWidth - ROOM.left - ROOM.right, 1);
  }

  x(t) {
    return ROOM.left + ((t - this.span[0]) / (this.span[1] - this.span[0] || 1)) * this.width;
  }

  time(x) {
    return this.span[0] + ((x - ROOM.left) / this.width) * (this.span[1] - this.span[0]);
  }

  mark(t) {
    this.cursor.style.transform = `translateX(${this.x(t)}px)`;
  }

  /** Draw the curves; `only` is the joint whose curves stand out, or null. */
  draw(only = this.only ?? null) {
    this.only = only;
    const dense = window.devicePixelRatio || 1, wide = this.box.clientWidth, high = this.box.clientHeight;
    if (!wide || !high) return;
    Object.assign(this.canvas, { width: wide * dense, height: high * dense });
    const pen = this.canvas.getContext("2d"), { curves, times, title } = this.panel;
    pen.scale(dense, dense);
    pen.font = "11px system-ui, sans-serif";
    let least = Infinity, most = -Infinity;
    for (const curve of curves)
      for (const x of curve.values) if (Number.isFinite(x)) [least, most] = [Math.min(least, x), Math.max(most, x)];
    if (!(most >= least)) [least, most] = [-1, 1];
    // a curve that is constant but for rounding is a straight line
    const room = Math.max(0.06 * (most - least), 1e-3 * Math.max(Math.abs(least), Math.abs(most))) || 1;
    [least, most] = [least - room, most + room];
    const bottom = high - ROOM.bottom, y = (x) => bottom - ((x - least) / (most - least)) * (bottom - ROOM.top);
    pen.fillStyle = "rgba(230,159,0,0.14)";
    for (const rest of this.rests) pen.fillRect(this.x(rest.start), ROOM.top, this.x(rest.end) - this.x(rest.start), bottom - ROOM.top);
    pen.lineWidth = 1;
    pen.strokeStyle = "#e6e8eb";
    pen.fillStyle = "#666";
    pen.textAlign = "right";
    for (const x of ticks(least, most, Math.max(2, (bottom - ROOM.top) / 30))) {
      this.line(pen, ROOM.left, y(x), wide - ROOM.right, y(x));
      pen.fillText(shown(x), ROOM.left - 5, y(x) + 4);
    }
    pen.textAlign = "center";
    for (const t of ticks(this.span[0], this.span[1] || 1, Math.max(2, this.width / 70))) {
      this.line(pen, this.x(t), ROOM.top, this.x(t), bottom);
      pen.fillText(shown(t), this.x(t), high - 3);
    }
    pen.strokeStyle = `rgba(120,120,120,${Math.min(Math.max(30 / (this.impacts.length || 1), 0.1), 0.8)})`;
    for (const impact of this.impacts) this.line(pen, this.x(impact.time), ROOM.top, this.x(impact.time), bottom);
    for (const curve of curves) {
      pen.strokeStyle = curve.colour;
      pen.setLineDash(DASHES[curve.dash % DASHES.length]);
      pen.globalAlpha = only === null || only === curve.joint ? 1 : 0.15;
      pen.lineWidth = only === curve.joint ? 2 : 1.4;
      pen.beginPath();
      let isDrawn = false;
      curve.values.forEach((value, k) => {
        if (!Number.isFinite(value)) isDrawn = false;
        else if (isDrawn) pen.lineTo(this.x(times[k]), y(value));
        else {
          pen.moveTo(this.x(times[k]), y(value));
          isDrawn = true;
        }
      });
      pen.stroke();
    }
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    pen.fillStyle = "#222";
    pen.textAlign = "left";
    pen.fillText(title, ROOM.left, 12);
    if (!this.panel.isNamed) return;
    let x = wide - ROOM.right;
    for (const curve of [...curves].reverse()) {
      x -= pen.measureText(curve.name).width;
      pen.fillStyle = curve.colour;
      pen.fillText(curve.name, x, 12);
      x -= 10;
    }
  }

  line(pen, x0, y0, x1, y1) {
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
  }
}
