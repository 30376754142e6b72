"use strict";
// The 3-D scene: meshes on bodies, rods between points of bodies, walls, floor, impacts, and an orbiting camera.
// Vectors are arrays of three numbers; matrices have 16 numbers, column by column, as WebGL takes them.

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.sqrt(dot(a, a));
const unit = (a) => scale(a, 1 / (norm(a) || 1));
const IDENTITY = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);

function product(a, b) {
  const c = new Float32Array(16);
  for (let j = 0; j < 4; j++)
    for (let i = 0; i < 4; i++)
      for (let k = 0; k < 4; k++) c[4 * j + i] += a[4 * k + i] * b[4 * j + k];
  return c;
}

/** The pose with given axes (columns x, y, z, any lengths) and origin. */
const pose = (x, y, z, p) => new Float32Array([...x, 0, ...y, 0, ...z, 0, ...p, 1]);

/** A pose whose z is along `way`, with lengths of its axes across and along it. */
function along(p, way, across, length) {
  const z = unit(way);
  const aside = Math.abs(z[0]) < 0.6 ? [1, 0, 0] : [0, 1, 0];
  const x = unit(cross(aside, z));
  return pose(scale(x, across), scale(cross(z, x), across), scale(z, length), p);
}

const transformed = (m, at, p) => [
  m[at] * p[0] + m[at + 4] * p[1] + m[at + 8] * p[2] + m[at + 12],
  m[at + 1] * p[0] + m[at + 5] * p[1] + m[at + 9] * p[2] + m[at + 13],
  m[at + 2] * p[0] + m[at + 6] * p[1] + m[at + 10] * p[2] + m[at + 14],
];
const rotated = (m, at, v) => sub(transformed(m, at, v), [m[at + 12], m[at + 13], m[at + 14]]);

// Solids: positions, normals and triangles

function normals(p, faces) {
  const n = new Float32Array(p.length);
  for (let f = 0; f < faces.length; f += 3) {
    const [a, b, c] = [3 * faces[f], 3 * faces[f + 1], 3 * faces[f + 2]];
    const u = [p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]];
    const v = [p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]];
    const w = cross(u, v);
    for (const k of [a, b, c]) for (let i = 0; i < 3; i++) n[k + i] += w[i];
  }
  return n;
}

/** A surface of revolution about z through points [radius, height, normal radius, normal height]. */
function turned(profile, sides) {
  const p = [], n = [], faces = [];
  for (const [radius, height, out, up] of profile)
    for (let k = 0; k <= sides; k++) {
      const angle = (2 * Math.PI * k) / sides;
      p.push(radius * Math.cos(angle), radius * Math.sin(angle), height);
      n.push(out * Math.cos(angle), out * Math.sin(angle), up);
    }
  for (let r = 0; r + 1 < profile.length; r++)
    for (let k = 0; k < sides; k++) {
      const a = r * (sides + 1) + k, b = a + sides + 1;
      faces.push(a, a + 1, b + 1, a, b + 1, b);
    }
  return { p: new Float32Array(p), n: new Float32Array(n), faces: new Uint32Array(faces) };
}
const SOLIDS = {
  rod: () => turned([[1, 0, 1, 0], [1, 1, 1, 0]], 20),
  disc: () => turned([[0, -0.5, 0, -1], [1, -0.5, 0, -1], [1, -0.5, 1, 0], [1, 0.5, 1, 0], [1, 0.5, 0, 1], [0, 0.5, 0, 1]], 28),
  ball: () => turned([...Array(13).keys()].map((k) => {
    const a = (Math.PI * (k - 6)) / 12;
    return [Math.cos(a), Math.sin(a), Math.cos(a), Math.sin(a)];
  }), 20),
  cone: () => turned([[1, 0, 0, -1], [0, 0, 0, -1], [1, 0, 0.9, 0.4], [0, 1, 0.9, 0.4]], 20),
};

const VERTEX = `#version 300 es
uniform mat4 camera, model; in vec3 position, normal; out vec3 n, p;
void main() { vec4 w = model * vec4(position, 1.0); p = w.xyz; n = mat3(model) * normal; gl_Position = camera * w; }`;
const FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 colour; uniform vec3 eye, up, sun, fill; uniform float lit; in vec3 n, p; out vec4 result;
void main() {
  vec3 view = normalize(eye - p), m = normalize(n);
  if (dot(m, view) < 0.0) m = -m;
  float sky = 0.5 + 0.5 * dot(m, up);
  float light = 0.30 + 0.22 * sky + 0.36 * max(dot(m, sun), 0.0) + 0.10 * max(dot(m, fill), 0.0) + 0.24 * dot(m, view);
  float gloss = 0.10 * pow(max(dot(m, normalize(sun + view)), 0.0), 40.0);
  result = vec4(mix(colour.rgb, colour.rgb * light + gloss, lit), colour.a);
}`;

class Scene {
  constructor(canvas, data) {
    this.canvas = canvas;
    this.data = data;
    const gl = (this.gl = canvas.getContext("webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true }));
    if (!gl) throw new Error("This page needs WebGL 2, which the browser does not offer.");
    this.program = this.compiled();
    this.at = {};
    for (const name of ["camera", "model", "colour", "eye", "up", "sun", "fill", "lit"])
      this.at[name] = gl.getUniformLocation(this.program, name);
    this.solids = {};
    for (const [name, make] of Object.entries(SOLIDS)) this.solids[name] = this.uploaded(make());
    this.meshes = data.meshes.map((mesh) => {
      const p = new Float32Array(mesh.vertices.length);
      for (let k = 0; k < p.length; k++) p[k] = mesh.low[k % 3] + (mesh.vertices[k] / 65535) * mesh.size[k % 3];
      return { ...mesh, solid: this.uploaded({ p, n: normals(p, mesh.faces), faces: mesh.faces }) };
    });
    this.walls = this.wallSolids();
    this.poses = new Float32Array(16 * (data.bodies + 1));
    this.poses.set(IDENTITY, 16 * data.bodies);
    this.setBasis();
    this.reset();
  }

  compiled() {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "position");
    gl.bindAttribLocation(program, 1, "normal");
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    return program;
  }

  uploaded({ p, n, faces }) {
    const gl = this.gl, vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    [p, n].forEach((array, k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, array, gl.STATIC_DRAW);
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    return { vao, count: faces.length, type: faces.BYTES_PER_ELEMENT === 2 ? gl.UNSIGNED_SHORT : gl.UNSIGNED_INT };
  }

  /** Lines of walls, and the grid of the floor, as ribbons of triangles; surfaces as they come. */
  wallSolids() {
    const { walls, floor, up } = this.data, found = [];
    for (const wall of walls) {
      if (wall.kind === "surface") {
        const p = wall.vertices, faces = wall.faces;
        found.push({ colour: [0.43, 0.45, 0.5, 0.16], solid: this.uploaded({ p, n: normals(p, faces), faces }), lit: 0 });
        continue;
      }
      const p = [], n = [], faces = [], { points, width } = wall;
      for (let k = 0; k + 5 < points.length; k += 6) this.tube(p, n, faces, points.subarray(k, k + 6), width);
      const solid = this.uploaded({ p: new Float32Array(p), n: new Float32Array(n), faces: new Uint32Array(faces) });
      found.push({ colour: [0.43, 0.45, 0.5, 1], solid, lit: 0.4 });
    }
    if (floor) this.floor = this.grid(floor, up);
    return found;
  }

  tube(p, n, faces, ends, width) {
    const a = [ends[0], ends[1], ends[2]], b = [ends[3], ends[4], ends[5]];
    const m = along(a, sub(b, a), width, norm(sub(b, a))), start = p.length / 3, sides = 6;
    for (const z of [0, 1])
      for (let k = 0; k < sides; k++) {
        const angle = (2 * Math.PI * k) / sides, r = [Math.cos(angle), Math.sin(angle), z];
        p.push(...transformed(m, 0, r));
        n.push(...rotated(m, 0, [r[0], r[1], 0]));
      }
    for (let k = 0; k < sides; k++) {
      const c = start + k, d = start + ((k + 1) % sides);
      faces.push(c, d, d + sides, c, d + sides, c + sides);
    }
  }

  grid({ height, cell, radius, centre }, up) {
    const [e, f] = this.horizontal(up), p = [], n = [], faces = [];
    const middle = add(scale(e, Math.round(dot(centre, e) / cell) * cell), scale(f, Math.round(dot(centre, f) / cell) * cell));
    const count = Math.ceil(radius / cell), width = 0.012 * cell;
    for (let k = -count; k <= count; k++)
      for (const [x, y] of [[e, f], [f, e]]) {
        const half = cell * Math.sqrt(Math.max(count * count - k * k, 0));
        const o = add(add(middle, scale(up, height)), scale(x, k * cell)), start = p.length / 3;
        for (const [s, w] of [[-1, -1], [-1, 1], [1, 1], [1, -1]]) {
          p.push(...add(add(o, scale(y, s * half)), scale(x, w * width)));
          n.push(...up);
        }
        faces.push(start, start + 1, start + 2, start, start + 2, start + 3);
      }
    return this.uploaded({ p: new Float32Array(p), n: new Float32Array(n), faces: new Uint32Array(faces) });
  }

  horizontal(up) {
    const e = unit(cross(Math.abs(up[2]) > 0.5 ? [0, 1, 0] : [0, 0, 1], up));
    return [e, cross(up, e)];
  }

  // Camera

  setBasis() {
    [this.east, this.north] = this.horizontal(this.data.up);
    const { up, across } = this.data;
    const way = across || add(add(scale(this.east, 0.75), scale(this.north, -0.8)), scale(up, 0.5));
    // the sun shines over the right shoulder of the first view
    const right = unit(cross(up, way)), front = cross(right, up);
    this.sun = unit(add(add(scale(right, 0.7), scale(front, 0.8)), scale(up, 1.4)));
    this.fill = unit(add(add(scale(right, -1), scale(front, 0.4)), scale(up, 0.5)));
    this.first = { azimuth: Math.atan2(dot(way, this.north), dot(way, this.east)), elevation: Math.asin(dot(unit(way), up)) };
  }

  reset() {
    const { low, high, across } = this.data, size = norm(sub(high, low)) || 1;
    const flat = 1.06 * Math.max(...sub(high, low));
    const wide = Math.min(1, this.canvas.clientWidth / Math.max(this.canvas.clientHeight, 1) || 1);
    this.size = size;
    this.target = scale(add(low, high), 0.5);
    this.distance = (0.5 * (across ? flat : 0.98 * size)) / Math.tan(0.35) / wide;
    Object.assign(this, this.first);
  }

  orbit(dx, dy) {
    this.azimuth -= dx;
    this.elevation = Math.min(Math.max(this.elevation + dy, -1.55), 1.55);
  }

  pan(dx, dy) {
    const step = this.distance * 0.75;
    this.target = add(this.target, add(scale(this.right, -dx * step), scale(this.above, dy * step)));
  }

  zoom(factor) {
    this.distance = Math.min(Math.max(this.distance * factor, 0.01 * this.size), 40 * this.size);
  }

  aim() {
    const { canvas, data } = this, ratio = canvas.width / Math.max(canvas.height, 1);
    const flat = Math.cos(this.elevation);
    const out = add(add(scale(this.east, flat * Math.cos(this.azimuth)), scale(this.north, flat * Math.sin(this.azimuth))), scale(data.up, Math.sin(this.elevation)));
    this.eye = add(this.target, scale(out, this.distance));
    this.right = unit(cross(data.up, out));
    this.above = cross(out, this.right);
    const view = new Float32Array([
      this.right[0], this.above[0], out[0], 0, this.right[1], this.above[1], out[1], 0,
      this.right[2], this.above[2], out[2], 0, -dot(this.right, this.eye), -dot(this.above, this.eye), -dot(out, this.eye), 1,
    ]);
    const near = Math.max(0.02 * this.distance, 1e-3 * this.size), far = this.distance + 12 * this.size, f = 1 / Math.tan(0.35);
    const lens = new Float32Array([f / ratio, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + far) / (near - far), -1, 0, 0, (2 * near * far) / (near - far), 0]);
    this.camera = product(lens, view);
  }

  /** The place of a point on the canvas in CSS pixels; null behind the camera. */
  seen(p) {
    const c = this.camera, w = c[3] * p[0] + c[7] * p[1] + c[11] * p[2] + c[15];
    if (w <= 0) return null;
    const q = transformed(c, 0, p);
    return [(0.5 + (0.5 * q[0]) / w) * this.canvas.clientWidth, (0.5 - (0.5 * q[1]) / w) * this.canvas.clientHeight];
  }

  // Motion

  /** Set the poses of the bodies at a time, between two recorded frames. */
  move(t) {
    const { times, frames, bodies } = this.data;
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= t) low = middle; else high = middle;
    }
    const step = times[high] - times[low], s = step > 0 ? Math.min(Math.max((t - times[low]) / step, 0), 1) : 0;
    for (let b = 0; b < bodies; b++) {
      const i = 7 * (low * bodies + b), j = 7 * (high * bodies + b);
      let turn = 0;
      for (let k = 3; k < 7; k++) turn += frames[i + k] * frames[j + k];
      const sign = turn < 0 ? -1 : 1, q = [];
      for (let k = 3; k < 7; k++) q.push((1 - s) * frames[i + k] + s * sign * frames[j + k]);
      const length = Math.hypot(...q) || 1, [w, x, y, z] = q.map((c) => c / length), m = this.poses, o = 16 * b;
      m[o] = 1 - 2 * (y * y + z * z); m[o + 1] = 2 * (x * y + w * z); m[o + 2] = 2 * (x * z - w * y);
      m[o + 4] = 2 * (x * y - w * z); m[o + 5] = 1 - 2 * (x * x + z * z); m[o + 6] = 2 * (y * z + w * x);
      m[o + 8] = 2 * (x * z + w * y); m[o + 9] = 2 * (y * z - w * x); m[o + 10] = 1 - 2 * (x * x + y * y);
      for (let k = 0; k < 3; k++) m[o + 12 + k] = (1 - s) * frames[i + k] + s * frames[j + k];
      m[o + 15] = 1;
    }
  }

  place(body) {
    return 16 * (body < 0 ? this.data.bodies : body);
  }

  // Drawing

  draw(marks) {
    const { gl, canvas, data } = this, dense = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * dense), height = Math.round(canvas.clientHeight * dense);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    this.aim();
    gl.viewport(0, 0, width, height);
    gl.clearColor(0.955, 0.962, 0.97, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniformMatrix4fv(this.at.camera, false, this.camera);
    for (const [name, value] of [["eye", this.eye], ["up", data.up], ["sun", this.sun], ["fill", this.fill]])
      gl.uniform3fv(this.at[name], value);
    const parts = this.robot();
    gl.disable(gl.DEPTH_TEST);
    if (data.floor && dot(this.eye, data.up) > data.floor.height) {
      const flat = this.shadow(data.floor.height, data.up);
      for (const part of parts) if (part.colour[3] >= 1) this.paint(part.solid, product(flat, part.model), [0.85, 0.865, 0.885, 1], 0);
    }
    if (this.floor) this.paint(this.floor, IDENTITY, [0.78, 0.805, 0.835, 1], 0);
    gl.enable(gl.DEPTH_TEST);
    const trail = marks.filter((mark) => !mark.recent).flatMap((mark) => this.mark(mark));
    const all = [...parts, ...this.walls.map((wall) => ({ ...wall, model: IDENTITY })), ...trail];
    for (const part of all) if (part.colour[3] >= 1) this.paint(part.solid, part.model, part.colour, part.lit ?? 1);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    for (const part of all) if (part.colour[3] < 1) this.paint(part.solid, part.model, part.colour, part.lit ?? 1);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.clear(gl.DEPTH_BUFFER_BIT); // arrows are seen through the robot
    for (const part of marks.filter((mark) => mark.recent).flatMap((mark) => this.mark(mark)))
      this.paint(part.solid, part.model, part.colour, 1);
  }

  paint(solid, model, colour, lit) {
    const gl = this.gl;
    gl.uniformMatrix4fv(this.at.model, false, model);
    gl.uniform4fv(this.at.colour, colour);
    gl.uniform1f(this.at.lit, lit);
    gl.bindVertexArray(solid.vao);
    gl.drawElements(gl.TRIANGLES, solid.count, solid.type, 0);
  }

  /** The projection along the sun's rays to the floor. */
  shadow(height, up) {
    const s = this.sun, fall = dot(s, up), m = new Float32Array(16);
    for (let j = 0; j < 3; j++)
      for (let i = 0; i < 3; i++) m[4 * j + i] = (i === j ? 1 : 0) - (s[i] * up[j]) / fall;
    for (let i = 0; i < 3; i++) m[12 + i] = (s[i] * height) / fall;
    m[15] = 1;
    return m;
  }

  robot() {
    const { sticks } = this.data, m = this.poses, parts = [];
    for (const mesh of this.meshes)
      parts.push({ solid: mesh.solid, model: m.subarray(this.place(mesh.body), this.place(mesh.body) + 16), colour: mesh.colour });
    if (!sticks) return parts;
    const r = sticks.radius, points = sticks.bodies.map((b, k) => transformed(m, this.place(b), sticks.places[k]));
    sticks.rods.forEach(([a, b], k) => {
      const way = sub(points[b], points[a]);
      parts.push({ solid: this.solids.rod, model: along(points[a], way, r, norm(way)), colour: sticks.colours[k] });
    });
    sticks.ends.forEach((end, k) => {
      parts.push({ solid: this.solids.ball, model: pose([r, 0, 0], [0, r, 0], [0, 0, r], points[end]), colour: sticks.endColours[k] });
    });
    sticks.hubs.forEach((hub, k) => {
      const axis = rotated(m, this.place(sticks.bodies[hub]), sticks.axes[k]);
      parts.push({ solid: this.solids.disc, model: along(points[hub], axis, 1.55 * r, 3.4 * r), colour: sticks.hubColour });
    });
    return parts;
  }

  /** The parts of an impact's mark: a ball, and an arrow along the impulse while it is recent. */
  mark({ place, push, recent, colour }) {
    const r = (recent ? 0.016 : 0.006) * this.size, length = norm(push);
    const parts = [{ solid: this.solids.ball, model: pose([r, 0, 0], [0, r, 0], [0, 0, r], place), colour }];
    if (recent && length > 0) {
      const tip = add(place, push), head = Math.min(0.035 * this.size, 0.4 * length);
      parts.push({ solid: this.solids.rod, model: along(place, push, 0.005 * this.size, length - head), colour });
      parts.push({ solid: this.solids.cone, model: along(sub(tip, scale(push, head / length)), push, 0.014 * this.size, head), colour });
    }
    return parts;
  }
}
