// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// The renderer, its light, its ground and its sky; and the loop that draws.

import * as THREE from '../../vendor/three/build/three.module.js';
import { LIGHT, PlainMaterial } from './materials.js';

const LOOKS = {
  light: { zenith: '#c9d6e2', horizon: '#eef1f4', ground: '#dfe4e9', line: '#8896a5', sun: 2.5, sky: 0.75, room: 0.42, exposure: 1.0 },
  dark: { zenith: '#0d1116', horizon: '#1c232b', ground: '#1a2027', line: '#5d6b7a', sun: 1.75, sky: 0.34, room: 0.26, exposure: 0.95 },
};
const COARSE = 0.75; // pixels of the picture to one of the screen, without a graphics card
const COARSEST = 0.375; // likewise, of the first picture
// The layer of what comes with the second picture, so that the first one waits for few programs;
// three.js keeps the layers 1 and 2 for the eyes of a headset.
export const SECOND = 3;
const SHADOW_REACH = 9; // m around what is looked at
const FADE_FROM = 14, FADE_TO = 55; // m

export class Stage {
  constructor(canvas) {
    const query = new URLSearchParams(location.search);
    const options = { preserveDrawingBuffer: query.has('keep'), powerPreference: 'high-performance' };
    const context = softwareContext(canvas, options);
    // Without a graphics card a fluent picture is worth more than a fine one.
    this.quality = query.get('quality') ?? (context ? 'low' : 'auto');
    const isPlain = this.quality === 'low';
    if (!context || !isPlain) canvas = anew(canvas);
    this.renderer = new THREE.WebGLRenderer({ canvas, context: context && isPlain ? context : undefined, antialias: !isPlain, ...options });
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.shadowMap.enabled = this.quality !== 'low';
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.xr.enabled = true;
    this.renderer.xr.setReferenceSpaceType('local-floor');
    this.scene = new THREE.Scene();
    this.scene.fog = new THREE.Fog('#fff', FADE_FROM, FADE_TO);
    this.camera = new THREE.PerspectiveCamera(45, 1, 0.02, 300);
    this.camera.position.set(3, 2.2, 3);
    this.sun = new THREE.DirectionalLight('#fff6ea', 2);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.setScalar(this.quality === 'high' ? 4096 : 2048);
    this.sun.shadow.bias = -0.0003;
    this.sun.shadow.normalBias = 0.012;
    this.sun.shadow.radius = 3;
    this.sky = new THREE.HemisphereLight('#eef4ff', '#b7b0a6', 1);
    this.dome = makeDome();
    this.ground = makeGround(this.paint({ roughness: 1 }));
    for (const part of [this.dome, this.ground.children[1]]) part.layers.set(SECOND);
    this.scene.add(this.sun, this.sun.target, this.sky, this.dome, this.ground);
    if (isPlain) this.warmUp();
    else this.mirror();
    this.focus = new THREE.Vector3();
    this.reach = SHADOW_REACH;
    this.drawers = [];
    this.frames = 0;
    this.slow = 0;
    this.clock = performance.now();
    this.ratio = isPlain ? COARSEST : Math.min(devicePixelRatio, 2);
    this.isHeld = true; // until there is a world to draw
    this.isComplete = false; // until the sky, the grid and marks are drawn too
    this.fit();
    addEventListener('resize', () => this.fit());
    this.setTheme(document.documentElement.dataset.theme);
    this.renderer.setAnimationLoop((time, frame) => this.draw(time, frame));
  }

  // A material of the fineness that this machine can afford.
  paint({ roughness, ...rest }) {
    return this.quality === 'low' ? new PlainMaterial(rest) : new THREE.MeshStandardMaterial({ roughness, ...rest });
  }

  // Programs are compiled while the world is still on its way.
  warmUp() {
    const samples = new THREE.Scene();
    const map = new THREE.DataTexture(new Uint8Array(4), 1, 1);
    map.colorSpace = THREE.SRGBColorSpace;
    for (const kind of [{}, { map }, { transparent: true, opacity: 0.5 }]) samples.add(new THREE.Mesh(new THREE.BoxGeometry(), this.paint(kind)));
    this.renderer.compile(samples, this.camera, this.scene);
  }

  // After the first picture: all the rest, and as fine as this machine can afford.
  async complete() {
    const { extensions } = this.renderer;
    // Without this extension, asking whether a program is ready would wait for it.
    if (extensions.has('KHR_parallel_shader_compile')) await this.renderer.compileAsync(this.scene, this.camera);
    else this.renderer.compile(this.scene, this.camera);
    this.camera.layers.enable(SECOND);
    if (this.quality === 'low') this.ratio = Math.min(devicePixelRatio, COARSE);
    this.fit();
    this.isComplete = true;
    performance.mark('urlab-complete');
  }

  // What shiny things reflect; it comes when the first picture is there.
  async mirror() {
    const { RoomEnvironment } = await import('../../vendor/three/examples/jsm/environments/RoomEnvironment.js');
    const room = new THREE.PMREMGenerator(this.renderer);
    this.scene.environment = room.fromScene(new RoomEnvironment(), 0.04).texture;
    room.dispose();
    this.touch();
  }

  setTheme(name) {
    const look = LOOKS[name] ?? LOOKS.light;
    this.scene.fog.color.set(look.horizon);
    this.dome.material.uniforms.zenith.value.set(look.zenith);
    this.dome.material.uniforms.horizon.value.set(look.horizon);
    this.ground.children[0].material.color.set(look.ground);
    this.ground.children[1].material.uniforms.color.value.set(look.line);
    this.sun.intensity = look.sun;
    this.sky.intensity = look.sky;
    LIGHT.sunColor.value.copy(this.sun.color).multiplyScalar(look.sun / Math.PI);
    LIGHT.skyColor.value.copy(this.sky.color).multiplyScalar((2.6 * look.sky) / Math.PI);
    LIGHT.groundColor.value.copy(this.sky.groundColor).multiplyScalar((2.6 * look.sky) / Math.PI);
    this.scene.environmentIntensity = look.room;
    this.renderer.toneMappingExposure = look.exposure;
    this.touch();
  }

  fit() {
    const { innerWidth: width, innerHeight: height } = window;
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.touch();
  }

  // Something has changed: draw. While nothing does, the page costs nothing.
  touch() {
    this.dirty = 2;
  }

  draw(time, frame) {
    const seconds = Math.min((time - this.clock) / 1000, 0.1);
    for (const drawer of this.drawers) drawer(seconds, time, frame);
    if (this.isHeld || (!this.dirty && !this.renderer.xr.isPresenting)) {
      this.clock = time;
      return;
    }
    this.dirty = Math.max(0, this.dirty - 1);
    this.lead();
    const began = performance.now();
    this.renderer.render(this.scene, this.camera);
    this.frames += 1;
    if (this.frames === 1) this.complete();
    this.watch(time - this.clock, performance.now() - began);
    this.clock = time;
  }

  // The canvas, just drawn: later its pixels are gone.
  drawNow() {
    this.renderer.render(this.scene, this.camera);
    return this.renderer.domElement;
  }

  // Shadows are sharp where one looks.
  lead() {
    const { sun, focus, reach } = this;
    const camera = sun.shadow.camera;
    if (camera.right !== reach) {
      Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.5, far: 8 * reach });
      camera.updateProjectionMatrix();
    }
    // In whole texels, else shadows crawl while one follows.
    const texel = (2 * reach) / sun.shadow.mapSize.x;
    const at = new THREE.Vector3(...focus.toArray().map((part) => Math.round(part / texel) * texel));
    sun.target.position.copy(at);
    sun.position.copy(at).add(new THREE.Vector3(2.2, 4.4, 2.9).multiplyScalar(reach * 0.7));
    this.dome.position.setFromMatrixPosition(this.camera.matrixWorld);
    this.ground.children[1].position.set(Math.round(focus.x), 0.001, Math.round(focus.z));
  }

  // A machine without a graphics card gives up fineness before fluency.
  watch(interval, spent) {
    if (this.quality !== 'auto' || this.renderer.xr.isPresenting) return;
    this.slow = interval > 55 && interval < 1500 && spent > 12 ? this.slow + 1 : Math.max(0, this.slow - 0.5);
    if (this.slow < 12) return;
    this.slow = 0;
    if (this.ratio > 1) this.ratio = 1;
    else if (this.renderer.shadowMap.autoUpdate) {
      this.renderer.shadowMap.autoUpdate = false;
      setInterval(() => (this.renderer.shadowMap.needsUpdate = true), 400);
    } else if (this.ratio > 0.75) this.ratio = 0.75;
    else return;
    this.fit();
  }
}

// The canvas's context when a processor draws, else null. One more context would cost a processor much.
function softwareContext(canvas, options) {
  const gl = canvas.getContext('webgl2', { antialias: false, alpha: true, ...options });
  const names = gl?.getExtension('WEBGL_debug_renderer_info');
  return names && /swiftshader|llvmpipe|software|basic render/i.test(gl.getParameter(names.UNMASKED_RENDERER_WEBGL)) ? gl : null;
}

// A canvas keeps the context that it had first.
function anew(canvas) {
  canvas.getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext();
  const other = canvas.cloneNode();
  canvas.replaceWith(other);
  return other;
}

function makeDome() {
  const material = new THREE.ShaderMaterial({
    side: THREE.BackSide,
    depthWrite: false,
    fog: false,
    toneMapped: false,
    uniforms: { zenith: { value: new THREE.Color() }, horizon: { value: new THREE.Color() } },
    vertexShader: 'varying vec3 at; void main() { at = normalize(position); gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }',
    fragmentShader: 'uniform vec3 zenith; uniform vec3 horizon; varying vec3 at; void main() { gl_FragColor = vec4(mix(horizon, zenith, pow(max(normalize(at).y, 0.0), 0.65)), 1.0); \n#include <colorspace_fragment>\n }',
  });
  const dome = new THREE.Mesh(new THREE.SphereGeometry(200, 32, 16), material);
  dome.renderOrder = -1;
  dome.frustumCulled = false;
  return dome;
}

// For worlds without a floor: a disc that takes shadows, and a grid that fades away.
function makeGround(material) {
  const disc = new THREE.Mesh(new THREE.CircleGeometry(80, 64), material);
  disc.rotation.x = -Math.PI / 2;
  disc.position.y = -0.004;
  disc.receiveShadow = true;
  const grid = new THREE.Mesh(new THREE.PlaneGeometry(80, 80), new THREE.ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: { color: { value: new THREE.Color() } },
    vertexShader: 'varying vec2 at; varying vec2 from; void main() { vec4 w = modelMatrix * vec4(position, 1.0); at = w.xz; from = w.xz - modelMatrix[3].xz; gl_Position = projectionMatrix * viewMatrix * w; }',
    fragmentShader: `uniform vec3 color; varying vec2 at; varying vec2 from;
      float lines(float every, float width) { vec2 g = abs(fract(at / every - 0.5) - 0.5) * every / (fwidth(at) * width); return 1.0 - min(min(g.x, g.y), 1.0); }
      void main() { float fade = 1.0 - smoothstep(4.0, 26.0, length(from));
        float a = max(lines(1.0, 1.1) * 0.38, lines(5.0, 1.5) * 0.7) * fade; gl_FragColor = vec4(color, a);
        #include <colorspace_fragment>
      }`,
  }));
  grid.rotation.x = -Math.PI / 2;
  const ground = new THREE.Group();
  ground.add(disc, grid);
  return ground;
}
