// Builds the bench programs into build/bench, when a source is newer than its program.
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolsDirectory } from './paths.mjs';

const HEADERS = ['bench/support/sockets.h', 'bench/load/exchange.h', 'bench/origin/http2.h'];

/** HPACK, which the origin has of the proxy itself. */
const HPACK = [
  'native/http/http2/hpack_decoder.cc',
  'native/http/http2/hpack_encoder.cc',
  'native/http/http2/header_table.cc',
  'native/http/http2/huffman.cc',
  'native/http/message.cc',
];

/** Each program's source files. */
const SOURCES = {
  floor: ['bench/floor/floor.cc'],
  origin: ['bench/origin/origin.cc', 'bench/origin/http2.cc', ...HPACK],
  tcpLoad: ['bench/load/tcp_load.cc'],
  idleHold: ['bench/load/idle_hold.cc'],
  updateProbe: ['bench/load/update_probe.cc'],
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
  const sources = SOURCES[name];
  const program = join(toolsDirectory, name);
  const newest = Math.max(...[...sources, ...HEADERS].map((file) => modifiedMs(join(root, file))));
  if (modifiedMs(program) >= newest) return program;

  const compiler = process.env.CXX ?? 'g++';
  const include = [`-I${root}`, `-I${join(root, 'native')}`];
  const flags = ['-std=c++20', '-O2', '-DNDEBUG', '-Wall', '-Wextra', '-Wno-unused-parameter'];
  const paths = sources.map((source) => join(root, source));
  execFileSync(compiler, [...flags, ...include, '-o', program, ...paths], { stdio: 'inherit' });
  return program;
}

/** 0 when there is no such file. */
function modifiedMs(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
