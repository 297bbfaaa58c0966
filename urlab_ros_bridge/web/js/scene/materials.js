// Copyright 2026 The urlab_ros_bridge authors
// SPDX-License-Identifier: Apache-2.0
// A material for software rendering: lit per vertex, by one sun and the sky.

import * as THREE from '../../vendor/three/build/three.module.js';

// Uniforms shared by all plain materials; the stage sets them.
export const LIGHT = {
  sunDirection: { value: new THREE.Vector3(2.2, 4.4, 2.9).normalize() },
  sunColor: { value: new THREE.Color() },
  skyColor: { value: new THREE.Color() },
  groundColor: { value: new THREE.Color() },
};

const VERTEX = `
#ifdef USE_MAP
uniform mat3 mapTransform;
varying vec2 mapUv;
#endif
uniform vec3 sunDirection, sunColor, skyColor, groundColor;
varying vec3 light;
varying float depth;
void main() {
  vec3 worldNormal = normalize(mat3(modelMatrix) * normal);
  light = sunColor * max(dot(worldNormal, sunDirection), 0.0) + mix(groundColor, skyColor, 0.5 * worldNormal.y + 0.5);
#ifdef USE_COLOR
  light *= color.rgb;
#endif
#ifdef USE_MAP
  mapUv = (mapTransform * vec3(MAP_UV, 1.0)).xy;
#endif
  vec4 viewPosition = modelViewMatrix * vec4(position, 1.0);
  depth = -viewPosition.z;
  gl_Position = projectionMatrix * viewPosition;
}`;

const FRAGMENT = `
#ifdef USE_MAP
uniform sampler2D map;
varying vec2 mapUv;
#endif
uniform vec3 diffuse, emissive, fogColor;
uniform float opacity, fogNear, fogFar;
varying vec3 light;
varying float depth;
void main() {
  vec4 color = vec4(diffuse, opacity);
#ifdef USE_MAP
  color *= texture2D(map, mapUv);
#endif
  color.rgb = mix(color.rgb * light + emissive, fogColor, smoothstep(fogNear, fogFar, depth));
  gl_FragColor = linearToOutputTexel(color);
}`;

// Its shaders are a tenth of the size of those of three.js, which take a second to compile in software.
export class PlainMaterial extends THREE.MeshBasicMaterial {
  constructor(parameters) {
    super({ toneMapped: false });
    this.emissive = new THREE.Color(0); // three.js passes these two to the shader
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

export function toPlain({ color, map, emissive, emissiveIntensity, transparent, opacity, side, vertexColors }) {
  const parameters = { color, map, emissive, emissiveIntensity, transparent, opacity, side, vertexColors };
  return new PlainMaterial(Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined)));
}
