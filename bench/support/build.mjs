// Builds the bench programs into build/bench, when a source is newer than its program.
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolsDirectory } from './paths.mjs';

const HEADERS = ['bench/support/sockets.h', 'bench/load/exchange.h'];

/** Each program's one source file. */
const SOURCES = {
  floor: 'bench/floor/floor.cc',
  origin: 'bench/origin/origin.cc',
  tcpLoad: 'bench/load/tcp_load.cc',
  idleHold: 'bench/load/idle_hold.cc',
  updateProbe: 'bench/load/update_probe.cc',
};

/**
 * @param {readonly (keyof typeof SOURCES)[]} names
 * @returns {Record<keyof typeof SOURCES, string>} the programs' paths
 */
export function buildTools(names) {
  mkdirSync(toolsDirectory, { recursive: true });
  return Object.fromEntries(names.map((name) => [name, buildTool(name)]));
}

function buildTool(name) {
  const source = SOURCES[name];
  const program = join(toolsDirectory, name);
  const newest = Math.max(...[source, ...HEADERS].map((file) => modifiedMs(join(root, file))));
  if (modifiedMs(program) >= newest) return program;

  const compiler = process.env.CXX ?? 'g++';
  const flags = ['-std=c++20', '-O2', '-Wall', '-Wextra', `-I${root}`];
  execFileSync(compiler, [...flags, '-o', program, join(root, source)], { stdio: 'inherit' });
  return program;
}

/** 0 when there is no such file. */
function modifiedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
