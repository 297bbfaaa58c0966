// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// A material for machines without a graphics card: lit at the corners, by one sun and the sky.

import * as THREE from '../../vendor/three/build/three.module.js';

// Shared by all; the stage sets them.
export const LIGHT = {
  sunWay: { value: new THREE.Vector3(2.2, 4.4, 2.9).normalize() },
  sunColor: { value: new THREE.Color() },
  skyColor: { value: new THREE.Color() },
  groundColor: { value: new THREE.Color() },
};

const VERTEX = `
#ifdef USE_MAP
uniform mat3 mapTransform;
varying vec2 at;
#endif
uniform vec3 sunWay, sunColor, skyColor, groundColor;
varying vec3 light;
varying float away;
void main() {
  vec3 way = normalize(mat3(modelMatrix) * normal);
  light = sunColor * max(dot(way, sunWay), 0.0) + mix(groundColor, skyColor, 0.5 * way.y + 0.5);
#ifdef USE_COLOR
  light *= color.rgb;
#endif
#ifdef USE_MAP
  at = (mapTransform * vec3(MAP_UV, 1.0)).xy;
#endif
  vec4 seen = modelViewMatrix * vec4(position, 1.0);
  away = -seen.z;
  gl_Position = projectionMatrix * seen;
}`;

const FRAGMENT = `
#ifdef USE_MAP
uniform sampler2D map;
varying vec2 at;
#endif
uniform vec3 diffuse, emissive, fogColor;
uniform float opacity, fogNear, fogFar;
varying vec3 light;
varying float away;
void main() {
  vec4 color = vec4(diffuse, opacity);
#ifdef USE_MAP
  color *= texture2D(map, at);
#endif
  color.rgb = mix(color.rgb * light + emissive, fogColor, smoothstep(fogNear, fogFar, away));
  gl_FragColor = linearToOutputTexel(color);
}`;

// Its programs are a tenth of those of three.js, which a processor needs a second to compile.
export class PlainMaterial extends THREE.MeshBasicMaterial {
  constructor(parameters) {
    super({ toneMapped: false });
    this.emissive = new THREE.Color(0); // three.js hands these two to the program
    this.emissiveIntensity = 1;
    if (parameters) this.setValues(parameters);
  }

  copy(other) {
    super.copy(other);
    this.emissive.copy(other.emissive);
    this.emissiveIntensity = other.emissiveIntensity;
    return this;
  }

  onBeforeCompile(shader) {
    Object.assign(shader.uniforms, LIGHT, { emissive: { value: new THREE.Color() } });
    shader.vertexShader = VERTEX;
    shader.fragmentShader = FRAGMENT;
  }

  customProgramCacheKey() {
    return 'plain';
  }
}

export function plain({ color, map, emissive, emissiveIntensity, transparent, opacity, side, vertexColors }) {
  const kept = { color, map, emissive, emissiveIntensity, transparent, opacity, side, vertexColors };
  return new PlainMaterial(Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)));
}
