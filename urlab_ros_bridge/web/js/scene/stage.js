// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// Renderer, lights, ground, sky and the render loop.

import * as THREE from '../../vendor/three/build/three.module.js';
import { LIGHT, PlainMaterial } from './materials.js';

const THEMES = {
  light: { zenith: '#c9d6e2', horizon: '#eef1f4', ground: '#dfe4e9', line: '#8896a5', sun: 2.5, sky: 0.75, environment: 0.42, exposure: 1.0 },
  dark: { zenith: '#0d1116', horizon: '#1c232b', ground: '#1a2027', line: '#5d6b7a', sun: 1.75, sky: 0.34, environment: 0.26, exposure: 0.95 },
};
const SOFTWARE_PIXEL_RATIO = 0.75; // drawn pixels per screen pixel in software rendering
const FIRST_FRAME_PIXEL_RATIO = 0.375; // the same for the first frame
// Objects in this layer are drawn from the second frame on: the first frame then compiles few shaders.
// three.js reserves layers 1 and 2 for the eyes of a headset.
export const DEFERRED_LAYER = 3;
const SHADOW_REACH = 9; // m around the focus
const FOG_NEAR = 14, FOG_FAR = 55; // m

export class Stage {
  constructor(canvas) {
    const query = new URLSearchParams(location.search);
    const options = { preserveDrawingBuffer: query.has('keep'), powerPreference: 'high-performance' };
    const context = softwareContext(canvas, options);
    // Without a graphics card, frame rate matters more than detail.
    this.quality = query.get('quality') ?? (context ? 'low' : 'auto');
    const isSoftware = this.quality === 'low';
    if (!context || !isSoftware) canvas = replaceCanvas(canvas);
    this.renderer = new THREE.WebGLRenderer({ canvas, context: context && isSoftware ? context : undefined, antialias: !isSoftware, ...options });
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.renderer.shadowMap.enabled = this.quality !== 'low';
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.xr.enabled = true;
    this.renderer.xr.setReferenceSpaceType('local-floor');
    this.scene = new THREE.Scene();
    this.scene.fog = new THREE.Fog('#fff', FOG_NEAR, FOG_FAR);
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
    this.ground = makeGround(this.makeMaterial({ roughness: 1 }));
    for (const part of [this.dome, this.ground.children[1]]) part.layers.set(DEFERRED_LAYER);
    this.scene.add(this.sun, this.sun.target, this.sky, this.dome, this.ground);
    if (isSoftware) this.compileMaterials();
    else this.loadEnvironment();
    this.focus = new THREE.Vector3();
    this.reach = SHADOW_REACH;
    this.beforeFrame = [];
    this.frames = 0;
    this.slow = 0;
    this.clock = performance.now();
    this.ratio = isSoftware ? FIRST_FRAME_PIXEL_RATIO : Math.min(devicePixelRatio, 2);
    this.isSuspended = true; // until there is a world to draw
    this.isComplete = false; // until the deferred layer is drawn
    this.fit();
    addEventListener('resize', () => this.fit());
    this.setTheme(document.documentElement.dataset.theme);
    this.renderer.setAnimationLoop((time, frame) => this.draw(time, frame));
  }

  // A material as detailed as this machine can render.
  makeMaterial({ roughness, ...rest }) {
    return this.quality === 'low' ? new PlainMaterial(rest) : new THREE.MeshStandardMaterial({ roughness, ...rest });
  }

  // Compile shaders while the world is still loading.
  compileMaterials() {
    const samples = new THREE.Scene();
    const map = new THREE.DataTexture(new Uint8Array(4), 1, 1);
    map.colorSpace = THREE.SRGBColorSpace;
    for (const kind of [{}, { map }, { transparent: true, opacity: 0.5 }]) samples.add(new THREE.Mesh(new THREE.BoxGeometry(), this.makeMaterial(kind)));
    this.renderer.compile(samples, this.camera, this.scene);
  }

  // After the first frame: everything, at full resolution.
  async drawDeferred() {
    const { extensions } = this.renderer;
    // Without this extension, polling whether a shader is ready blocks.
    if (extensions.has('KHR_parallel_shader_compile')) await this.renderer.compileAsync(this.scene, this.camera);
    else this.renderer.compile(this.scene, this.camera);
    this.camera.layers.enable(DEFERRED_LAYER);
    if (this.quality === 'low') this.ratio = Math.min(devicePixelRatio, SOFTWARE_PIXEL_RATIO);
    this.fit();
    this.isComplete = true;
    performance.mark('urlab-complete');
  }

  // What shiny surfaces reflect; loaded after start.
  async loadEnvironment() {
    const { RoomEnvironment } = await import('../../vendor/three/examples/jsm/environments/RoomEnvironment.js');
    const generator = new THREE.PMREMGenerator(this.renderer);
    this.scene.environment = generator.fromScene(new RoomEnvironment(), 0.04).texture;
    generator.dispose();
    this.touch();
  }

  setTheme(name) {
    const theme = THEMES[name] ?? THEMES.light;
    this.scene.fog.color.set(theme.horizon);
    this.dome.material.uniforms.zenith.value.set(theme.zenith);
    this.dome.material.uniforms.horizon.value.set(theme.horizon);
    this.ground.children[0].material.color.set(theme.ground);
    this.ground.children[1].material.uniforms.color.value.set(theme.line);
    this.sun.intensity = theme.sun;
    this.sky.intensity = theme.sky;
    LIGHT.sunColor.value.copy(this.sun.color).multiplyScalar(theme.sun / Math.PI);
    LIGHT.skyColor.value.copy(this.sky.color).multiplyScalar((2.6 * theme.sky) / Math.PI);
    LIGHT.groundColor.value.copy(this.sky.groundColor).multiplyScalar((2.6 * theme.sky) / Math.PI);
    this.scene.environmentIntensity = theme.environment;
    this.renderer.toneMappingExposure = theme.exposure;
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

  // Request a redraw. While nothing changes, nothing is drawn.
  touch() {
    this.dirty = 2;
  }

  draw(time, frame) {
    const seconds = Math.min((time - this.clock) / 1000, 0.1);
    for (const drawer of this.beforeFrame) drawer(seconds, time, frame);
    if (this.isSuspended || (!this.dirty && !this.renderer.xr.isPresenting)) {
      this.clock = time;
      return;
    }
    this.dirty = Math.max(0, this.dirty - 1);
    this.updateShadows();
    const start = performance.now();
    this.renderer.render(this.scene, this.camera);
    this.frames += 1;
    if (this.frames === 1) this.drawDeferred();
    this.reduceQualityIfSlow(time - this.clock, performance.now() - start);
    this.clock = time;
  }

  // Draw and return the canvas: its pixels are valid only until the next task.
  drawNow() {
    this.renderer.render(this.scene, this.camera);
    return this.renderer.domElement;
  }

  // Centre the shadow map on the focus; sky and grid follow the camera.
  updateShadows() {
    const { sun, focus, reach } = this;
    const camera = sun.shadow.camera;
    if (camera.right !== reach) {
      Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.5, far: 8 * reach });
      camera.updateProjectionMatrix();
    }
    // In whole texels: otherwise shadow edges flicker while the focus moves.
    const texel = (2 * reach) / sun.shadow.mapSize.x;
    const at = new THREE.Vector3(...focus.toArray().map((part) => Math.round(part / texel) * texel));
    sun.target.position.copy(at);
    sun.position.copy(at).add(new THREE.Vector3(2.2, 4.4, 2.9).multiplyScalar(reach * 0.7));
    this.dome.position.setFromMatrixPosition(this.camera.matrixWorld);
    this.ground.children[1].position.set(Math.round(focus.x), 0.001, Math.round(focus.z));
  }

  // Slow machines lose resolution first, then shadow updates.
  reduceQualityIfSlow(interval, spent) {
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

// The canvas's context if it renders in software, else null. It is reused: a second one is expensive there.
function softwareContext(canvas, options) {
  const gl = canvas.getContext('webgl2', { antialias: false, alpha: true, ...options });
  const names = gl?.getExtension('WEBGL_debug_renderer_info');
  return names && /swiftshader|llvmpipe|software|basic render/i.test(gl.getParameter(names.UNMASKED_RENDERER_WEBGL)) ? gl : null;
}

// A canvas cannot change the kind of its context.
function replaceCanvas(canvas) {
  canvas.getContext('webgl2')?.getExtension('WEBGL_lose_context')?.loseContext();
  const replacement = canvas.cloneNode();
  canvas.replaceWith(replacement);
  return replacement;
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

// For worlds without a floor: a disc that receives shadows, and a grid that fades out.
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
