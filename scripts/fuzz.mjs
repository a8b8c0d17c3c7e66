// Coverage-guided fuzzing (takes clang: apt-get install clang libclang-rt-dev): lets targets of
// test/fuzz grow inputs from what test/fuzz/corpora keeps of them, with AddressSanitizer and UBSan,
// then keeps the fewest inputs that reach as much. What fails ends the run and is left in build/fuzz.
//   node scripts/fuzz.mjs [--targets hpack,http2_sessions] [--minutes N] [--no-keep]
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isGiven, valueOf } from './arguments.mjs';
import { packCorpus, unpackCorpus } from './fuzz-corpus.mjs';
import { must, root, say } from './set-up.mjs';

const MOST_FILES = 200;
const MOST_BYTES = 60 * 1024;
const LONGEST_INPUT = 4096;

const minutes = Number(valueOf('minutes') ?? 10);
const programs = join(root, 'build/native/fuzz');

must('building the fuzz targets', 'make', ['-s', '-C', 'native', 'fuzz-clang']);
const all = readdirSync(programs)
  .filter((name) => name.startsWith('fuzz-'))
  .map((name) => name.slice('fuzz-'.length));
const wanted = valueOf('targets')?.split(',') ?? all;
for (const name of wanted) {
  if (all.includes(name)) continue;
  say(`there is no target ${name}; there are ${all.join(', ')}`);
  process.exit(2);
}
for (const name of wanted) {
  grow(name);
  if (!isGiven('no-keep')) keep(name);
}

function grow(name) {
  const folder = folderOf(name);
  const corpus = join(folder, 'corpus');
  const seeds = join(folder, 'seeds');
  for (const one of [corpus, seeds]) mkdirSync(one, { recursive: true });
  unpackCorpus(packedPath(name)).forEach((bytes, index) => {
    writeFileSync(join(seeds, `kept-${index}`), bytes);
  });
  say(`${name}: ${minutes} minutes`);
  const limits = ['-timeout=20', '-rss_limit_mb=2048', `-max_len=${LONGEST_INPUT}`];
  const time = `-max_total_time=${Math.round(minutes * 60)}`;
  run(name, [time, ...limits, '-print_final_stats=1', '-verbosity=1', corpus, seeds], {
    FAIRLEAD_FUZZ_SEEDS: seeds,
  });
}

function keep(name) {
  const folder = folderOf(name);
  const merged = join(folder, 'merged');
  rmSync(merged, { recursive: true, force: true });
  mkdirSync(merged);
  // By the code that they reach, not by how often they do.
  const how = ['-merge=1', '-use_counters=0', `-max_len=${LONGEST_INPUT}`];
  run(name, [...how, merged, join(folder, 'corpus'), join(folder, 'seeds')]);
  const inputs = readdirSync(merged)
    .map((file) => readFileSync(join(merged, file)))
    .sort((a, b) => a.length - b.length || Buffer.compare(a, b));
  const kept = [];
  let bytes = 0;
  for (const input of inputs) {
    bytes += input.length;
    if (kept.length === MOST_FILES || bytes > MOST_BYTES) break;
    kept.push(input);
  }
  writeFileSync(packedPath(name), packCorpus(kept));
  say(`${name}: kept ${kept.length} of ${inputs.length} inputs`);
}

function run(name, args, env = {}) {
  const options = { cwd: folderOf(name), env: { ...process.env, ...env } };
  must(name, join(programs, `fuzz-${name}`), args, options);
}

function folderOf(name) {
  return join(root, 'build/fuzz', basename(name));
}

function packedPath(name) {
  return join(root, 'test/fuzz/corpora', `${name}.corpus`);
}
