"use strict";
// The page: decodes its data, plays the run, and connects buttons, keys and pointers to scene and curves.

const FLASH = 0.5; // seconds of the film for which an impact's arrow is seen
const LONGEST = 0.3; // the longest arrow, in sizes of the scene
const LABELS = 4; // impulses written out at one moment
const HIT = [0.835, 0.369, 0, 1];
const TYPES = { float32: Float32Array, float64: Float64Array, uint16: Uint16Array, uint32: Uint32Array };
const $ = (id) => document.getElementById(id);

async function decoded() {
  const about = JSON.parse($("about").textContent);
  if (typeof DecompressionStream === "undefined") throw new Error("This page needs a browser with DecompressionStream (2023 or later).");
  const text = atob($("data").textContent.trim()), bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const array = ({ type, at, count }) => new TYPES[type](buffer, at, count);
  // every {array: …} in the description becomes the array that it stands for
  const filled = (x) =>
    Array.isArray(x) ? x.map(filled)
    : x && typeof x === "object" ? (x.array ? array(x.array) : Object.fromEntries(Object.entries(x).map(([k, v]) => [k, filled(v)])))
    : x;
  return filled(about);
}

class Player {
  constructor(data) {
    this.data = data;
    [this.start, this.end] = data.span;
    this.time = this.start;
    this.isPlaying = false;
    this.only = null;
    this.scene = new Scene($("view"), data);
    const greatest = Math.max(...data.impacts.flatMap((impact) => impact.pushes.map(norm)), 0);
    for (const impact of data.impacts)
      impact.arrows = impact.pushes.map((push) => scale(push, greatest > 0 && norm(push) > 0 ? (LONGEST * this.scene.size) / Math.sqrt(greatest * norm(push)) : 0));
    this.fill();
    this.listen();
    this.seek(this.start);
    if (data.autoplay) this.play();
  }

  // The page's parts

  fill() {
    const { data } = this;
    $("title").textContent = data.title;
    $("under").textContent = data.under;
    for (const note of data.notes) this.entry($("notes"), note);
    for (const speed of data.speeds) $("speed").add(new Option(`${speed}×`, speed, false, speed === data.speed));
    Object.assign($("time"), { min: 0, max: 1, step: "any" });
    for (const impact of data.impacts) {
      const mark = document.createElement("i");
      mark.style.left = `${100 * this.share(impact.time)}%`;
      $("marks").appendChild(mark);
    }
    $("impacts").hidden = !data.impacts.length;
    $("count").textContent = `${data.impacts.length} impact${data.impacts.length === 1 ? "" : "s"}`;
    for (const impact of data.impacts) {
      const button = this.entry($("list"), `${impact.time.toFixed(4)} s  ${impact.label}`);
      button.addEventListener("click", () => this.seek(impact.time));
    }
    for (const [kind, name] of data.kinds) $("kind").add(new Option(name, kind));
    $("kind").hidden = data.kinds.length < 2;
    $("kind").addEventListener("change", () => this.showCurves());
    data.joints.forEach((joint, k) => {
      const chip = this.entry($("joints"), joint.name);
      chip.style.setProperty("--ink", joint.colour);
      chip.addEventListener("click", () => {
        this.only = this.only === k ? null : k;
        [...$("joints").children].forEach((other, i) => other.classList.toggle("chosen", i === this.only));
        this.curves.forEach((curve) => curve.draw(this.only));
      });
    });
    this.showCurves();
  }

  entry(parent, text) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    return parent.appendChild(button);
  }

  showCurves() {
    const { data } = this, kind = $("kind").value;
    $("plots").replaceChildren();
    this.curves = data.panels
      .filter((panel) => panel.kind === kind || panel.kind === "energy")
      .map((panel) => new Curves($("plots"), panel, data.span, data.impacts, data.rests, (t) => this.seek(t)));
    this.curves.forEach((curve) => {
      curve.draw(this.only);
      curve.mark(this.time);
    });
  }

  // Time

  share(t) {
    return (t - this.start) / (this.end - this.start || 1);
  }

  play() {
    if (this.time >= this.end) this.time = this.start;
    this.isPlaying = true;
    this.last = performance.now();
    this.refresh();
  }

  pause() {
    this.isPlaying = false;
    this.refresh();
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  seek(t) {
    this.time = Math.min(Math.max(t, this.start), this.end);
    this.pause();
  }

  jump(way) {
    const times = this.data.impacts.map((impact) => impact.time), slack = 1e-9 * Math.max(1, Math.abs(this.end));
    if (way > 0) this.seek(times.find((t) => t > this.time + slack) ?? this.end);
    else this.seek(times.reverse().find((t) => t < this.time - slack) ?? this.start);
  }

  refresh() {
    if (!this.request) this.request = requestAnimationFrame((now) => this.frame(now));
  }

  frame(now) {
    this.request = 0;
    if (this.isPlaying) {
      this.time += ((now - this.last) / 1000) * Number($("speed").value);
      this.last = now;
      if (this.time >= this.end) {
        if ($("loop").checked && this.end > this.start) this.time = this.start + ((this.time - this.start) % (this.end - this.start));
        else [this.time, this.isPlaying] = [this.end, false];
      }
    }
    this.draw();
    if (this.isPlaying) this.refresh();
  }

  draw() {
    const { data, scene, time } = this, lasting = FLASH * Number($("speed").value), marks = [];
    scene.move(time);
    const recent = data.impacts.filter((impact) => impact.time <= time && time - impact.time < lasting);
    for (const impact of data.impacts) {
      if (impact.time > time) break;
      const isRecent = time - impact.time < lasting;
      impact.places.forEach((place, k) => marks.push({ place, push: impact.arrows[k], recent: isRecent, colour: HIT }));
    }
    scene.draw(marks);
    this.label(recent);
    $("play").textContent = this.isPlaying ? "Pause" : "Play";
    $("time").value = this.share(time);
    $("now").textContent = `${time.toFixed(3)} s`;
    const resting = data.rests.filter((rest) => rest.start <= time && time < rest.end).map((rest) => rest.label);
    $("state").textContent = resting.length ? `resting: ${resting.join(", ")}` : "";
    this.curves.forEach((curve) => curve.mark(time));
    const latest = data.impacts.indexOf(recent[recent.length - 1]);
    [...$("list").children].forEach((entry, k) => entry.classList.toggle("chosen", k === latest));
    document.body.dataset.time = time;
  }

  label(recent) {
    const texts = recent.flatMap((impact) => impact.labels.map((text, k) => [text, add(impact.places[k], scale(impact.arrows[k], 1.1))]));
    const taken = [];
    const spans = (texts.length <= LABELS ? texts : []).flatMap(([text, place]) => {
      const at = this.scene.seen(place), span = document.createElement("span");
      if (!at) return [];
      while (taken.some((other) => Math.abs(other[0] - at[0]) < 60 && Math.abs(other[1] - at[1]) < 14)) at[1] -= 15;
      taken.push(at);
      span.textContent = text;
      span.style.transform = `translate(${at[0] + 8}px, ${at[1] - 18}px)`;
      return [span];
    });
    $("labels").replaceChildren(...spans);
  }

  // Buttons, keys and pointers

  listen() {
    $("play").addEventListener("click", () => this.toggle());
    $("time").addEventListener("input", (event) => this.seek(this.start + event.target.value * (this.end - this.start)));
    $("before").addEventListener("click", () => this.jump(-1));
    $("after").addEventListener("click", () => this.jump(1));
    $("reset").addEventListener("click", () => {
      this.scene.reset();
      this.refresh();
    });
    window.addEventListener("resize", () => this.refresh());
    window.addEventListener("keydown", (event) => {
      if (["INPUT", "SELECT"].includes(event.target.tagName) && event.key !== " ") return;
      const keys = {
        " ": () => this.toggle(), ArrowLeft: () => this.seek(this.time - 1 / 60), ArrowRight: () => this.seek(this.time + 1 / 60),
        Home: () => this.seek(this.start), End: () => this.seek(this.end), "[": () => this.jump(-1), "]": () => this.jump(1),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    this.listenToPointers($("view"));
  }

  listenToPointers(canvas) {
    const pointers = new Map();
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event);
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const high = canvas.clientHeight, dx = (event.clientX - before.clientX) / high, dy = (event.clientY - before.clientY) / high;
      if (pointers.size > 1) {
        const other = [...pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
        const apart = (pointer) => Math.hypot(pointer.clientX - other.clientX, pointer.clientY - other.clientY) || 1;
        this.scene.zoom(apart(before) / apart(event));
        this.scene.pan(0.5 * dx, 0.5 * dy);
      } else if (event.shiftKey || event.buttons & 6) this.scene.pan(dx, dy);
      else this.scene.orbit(4 * dx, 4 * dy);
      pointers.set(event.pointerId, event);
      this.refresh();
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.scene.zoom(Math.exp(0.0015 * event.deltaY));
      this.refresh();
    }, { passive: false });
  }
}

decoded()
  .then((data) => {
    window.player = new Player(data);
    document.body.dataset.ready = "true";
  })
  .catch((error) => {
    $("message").textContent = error.message;
    $("message").hidden = false;
  });
