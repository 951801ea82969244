/** Thousands of points, by the graphics card where there is one, dot by dot where there is none. */

import { byHand } from "./dots.js";

/** @typedef {import("./camera.js").Camera} Camera */
/**
 * @typedef {object} Points
 * @property {string} kind
 * @property {HTMLCanvasElement} canvas
 * @property {(places: Float32Array) => void} place three numbers a point
 * @property {(colours: Uint8Array) => void} colour four bytes a point
 * @property {(camera: Camera, seen: Float32Array, size: number) => void} draw
 */

const VERTEX = `
attribute vec3 place; attribute vec4 colour;
uniform mat4 view; uniform vec3 middle; uniform float size;
varying vec4 ink;
void main() {
  gl_Position = view * vec4(place - middle, 1.0);
  gl_PointSize = size / gl_Position.w;
  float far = clamp(1.6 - gl_Position.w * 0.75, 0.25, 1.0);
  ink = vec4(colour.rgb, colour.a * (gl_Position.w == 1.0 ? 1.0 : far));
}`;
const FRAGMENT = `
precision mediump float;
varying vec4 ink;
void main() {
  float away = length(gl_PointCoord - 0.5);
  if (away > 0.5) discard;
  gl_FragColor = vec4(ink.rgb * ink.a, ink.a);
}`;

/** A machine without a graphics card draws points and words on one canvas: each more is laid over the page in every frame.
 * @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} over where the words are written @returns {Points} */
export function points(canvas, over) {
  const gl = canvas.getContext("webgl", { antialias: false });
  return (gl && !pretended(gl) && byCard(gl, canvas)) || byHand(over);
}

/** A card that a processor pretends to be is slower than drawing by hand. @param {WebGLRenderingContext} gl */
function pretended(gl) {
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** @param {WebGLRenderingContext} gl @param {HTMLCanvasElement} canvas @returns {Points | null} */
function byCard(gl, canvas) {
  const program = build(gl);
  if (!program) return null;
  const [placed, coloured] = [gl.createBuffer(), gl.createBuffer()];
  const at = (/** @type {string} */ name) => gl.getUniformLocation(program, name);
  const [view, middle, size] = [at("view"), at("middle"), at("size")];
  let count = 0;
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  feed(gl, program, "place", placed, 3, gl.FLOAT);
  feed(gl, program, "colour", coloured, 4, gl.UNSIGNED_BYTE);
  /** @param {WebGLBuffer | null} buffer @param {Float32Array | Uint8Array} data */
  const fill = (buffer, data) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
  };
  return {
    kind: "webgl",
    canvas,
    place: (places) => {
      count = places.length / 3;
      fill(placed, places);
    },
    colour: (colours) => fill(coloured, colours),
    draw: (camera, _, wide) => {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniformMatrix4fv(view, false, camera.matrix());
      gl.uniform3f(middle, camera.x, camera.y, camera.z);
      gl.uniform1f(size, wide * (devicePixelRatio || 1));
      gl.drawArrays(gl.POINTS, 0, count);
    },
  };
}

/** @param {WebGLRenderingContext} gl */
function build(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of /** @type {[number, string][]} */ ([
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ])) {
    const shader = gl.createShader(kind);
    if (!shader || !program) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

/** @param {WebGLRenderingContext} gl @param {WebGLProgram} program @param {string} name @param {WebGLBuffer | null} buffer
 * @param {number} size @param {number} type */
function feed(gl, program, name, buffer, size, type) {
  const place = gl.getAttribLocation(program, name);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  gl.enableVertexAttribArray(place);
  gl.vertexAttribPointer(place, size, type, type === gl.UNSIGNED_BYTE, 0, 0);
}
