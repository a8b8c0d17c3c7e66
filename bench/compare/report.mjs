// What a comparison leaves behind: tables in Markdown, a chart, and every sample as JSON.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, machineLine } from '../support/machine.mjs';
import { resultsDirectory } from '../support/paths.mjs';
import { figure, markdownTable } from '../support/table.mjs';
import { barChart } from './chart.mjs';
import { titleOf } from './workloads.mjs';

/**
 * @typedef {object} Result
 * @property {string} base
 * @property {number} rounds
 * @property {number} seconds
 * @property {string} date
 * @property {Record<string, string>} versions by peer
 * @property {{workload: import('./workloads.mjs').Workload, rows: import('./summary.mjs').Row[],
 *   samples: Record<string, import('./measure.mjs').Sample[]>}[]} workloads
 * @property {{peer: string, connections: number, residentBytes: number, bytesPerConnection: number}[]} idle
 * @property {'http' | 'https'} idleMode
 * @property {{peer: string, mode: string, why: string}[]} absent
 */

/** @param {Result} result */
export function reportText(result) {
  const versions = Object.entries(result.versions).map(([peer, version]) => `${peer} ${version}`);
  const parts = [
    '# Comparison',
    `${result.date}. ${machineLine()}.`,
    `${versions.join(', ')}.`,
    `${result.rounds} alternating round${result.rounds === 1 ? '' : 's'} of ${result.seconds} s; medians; ± is half the range of the rounds. ` +
      `CPU is the proxy's user and system time, all its threads, per request. ` +
      `The last column is ${result.base}'s CPU per request over the peer's: below 1, ${result.base} is cheaper.`,
    ...result.workloads.map((entry) => workloadText(entry, result.base)),
  ];
  if (result.idle.length > 0) parts.push(idleText(result));
  if (result.absent.length > 0) {
    parts.push(
      '## Not measured',
      result.absent.map(({ peer, mode, why }) => `- ${peer} (${mode}): ${why}`).join('\n'),
    );
  }
  return `${parts.join('\n\n')}\n`;
}

function workloadText({ workload, rows }, base) {
  const head = [
    'peer',
    'requests/s',
    'CPU µs/request',
    '±',
    'p50 µs',
    'p99 µs',
    'RSS MiB',
    'failed',
    `${base} ÷ peer`,
  ];
  const cells = rows.map((row) => [
    row.peer,
    figure(row.requestsPerSecond),
    figure(row.cpuMicrosPerRequest),
    `${(row.cpuSpread * 100).toFixed(1)} %`,
    figure(row.p50Us),
    figure(row.p99Us),
    figure(row.residentBytes / 2 ** 20),
    String(row.failed),
    row.ratio === undefined ? '-' : row.ratio.toFixed(2),
  ]);
  return `## ${titleOf(workload)}\n\n${markdownTable(head, cells)}`;
}

function idleText({ idle, idleMode }) {
  const rows = idle.map((row) => [
    row.peer,
    row.connections.toLocaleString('en-US'),
    figure(row.residentBytes / 2 ** 20),
    Math.round(row.bytesPerConnection).toLocaleString('en-US'),
  ]);
  const table = markdownTable(['peer', 'connections', 'RSS MiB', 'bytes per connection'], rows);
  const how = idleMode === 'https' ? ' over TLS' : '';
  return `## Idle keep-alive connections${how}\n\n${table}`;
}

/** Writes compare.md, compare.svg and compare.json; returns their folder. */
export function writeReport(result) {
  mkdirSync(resultsDirectory, { recursive: true });
  const write = (name, text) => writeFileSync(join(resultsDirectory, name), text);
  write('compare.md', reportText(result));
  write('compare.json', `${JSON.stringify({ machine: describeMachine(), ...result }, null, 2)}\n`);
  write('compare.svg', barChart(chartOf(result)));
  return resultsDirectory;
}

function chartOf(result) {
  return {
    title: 'CPU per request, µs (less is better)',
    highlight: result.base,
    groups: result.workloads.map(({ workload, rows }) => ({
      title: titleOf(workload),
      bars: rows.map((row) => ({ name: row.peer, value: row.cpuMicrosPerRequest })),
    })),
  };
}
