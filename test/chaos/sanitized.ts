// The command with an addon that has AddressSanitizer and UBSan (scripts/test-chaos.mjs puts it together),
// and what they had to say of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/package-root.js';

/** How it ends when anything was reported: with Node's leaks, too. */
export const REPORTED = 99;

/** A library of the compiler's: a Node without sanitizers has to load theirs before its own. */
const libraryOf = (name: string): string =>
  execFileSync('g++', [`-print-file-name=${name}`], { encoding: 'utf8' }).trim();

/** What integration's helpers start instead of the command; reports come as files in that folder. */
export function sanitizedCommand(reports: string): string {
  const cli = join(packageRoot(), 'build', 'sanitized', 'dist', 'cli.js');
  assert.ok(existsSync(cli), 'it is not built: node scripts/test-chaos.mjs');
  const log = `log_path=${join(reports, 'report')}`;
  return [
    'env',
    `LD_PRELOAD=${libraryOf('libasan.so')}`,
    `ASAN_OPTIONS=${log}:exitcode=${REPORTED}:detect_leaks=1:handle_abort=2:handle_segv=2:handle_sigbus=2:detect_stack_use_after_return=1:malloc_context_size=24`,
    `UBSAN_OPTIONS=${log}:print_stacktrace=1`,
    process.execPath,
    cli,
  ].join(' ');
}

/** Rather than to trust a variable: both are mapped, and the addon asks for the library. */
export function assertIsSanitized(pid: number | undefined): void {
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
  assert.match(maps, /libasan\.so/);
  const [addon] = /\/.*\/build\/sanitized\/dist\/fairlead\.node/.exec(maps) ?? [];
  assert.ok(addon !== undefined && readFileSync(addon).includes('__asan_init'));
}

/** What was reported, but for what Node itself lets leak: also where the addon has called it. */
export function faultsIn(reports: string): readonly string[] {
  return readdirSync(reports).flatMap((name) => {
    const text = readFileSync(join(reports, name), 'utf8');
    if (!text.includes('LeakSanitizer')) return [text];
    return text
      .split('\n\n')
      .filter((part) => /^(Direct|Indirect) leak/m.test(part) && isOurs(part));
  });
}

/** Of a leak's frames the first that is either's tells whose it is. */
function isOurs(leak: string): boolean {
  const frames = leak.split('\n').filter((line) => /^\s*#\d+ /.test(line));
  const owner = frames.find((frame) =>
    /fairlead(::|\.node)|\/node\+0x|\bv8::|\bnode::/.test(frame),
  );
  return owner !== undefined && /fairlead(::|\.node)/.test(owner) && !/\/node\+0x/.test(owner);
}
