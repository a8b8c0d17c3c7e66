// From samples to what a table says: medians over the rounds, and ratios taken within each round, so
// that what disturbed a whole round disturbs both sides of a ratio.
import { median, spread } from '../support/statistics.mjs';

/**
 * @typedef {object} Row one peer on one workload
 * @property {string} peer
 * @property {number} requestsPerSecond
 * @property {number} cpuMicrosPerRequest
 * @property {number} cpuSpread half the range over the rounds, relative
 * @property {number} p50Us
 * @property {number} p99Us
 * @property {number} residentBytes
 * @property {number} failed in all rounds
 * @property {number} [ratio] the base's CPU per request over this peer's
 */

/**
 * @param {ReadonlyMap<string, readonly import('./measure.mjs').Sample[]>} samplesByPeer
 * @param {string} base the peer that the others are compared with
 * @returns {Row[]}
 */
export function summarize(samplesByPeer, base) {
  const baseSamples = samplesByPeer.get(base);
  return [...samplesByPeer].map(([peer, samples]) => {
    const middle = (field) => median(samples.map((sample) => sample[field]));
    const cpu = samples.map((sample) => sample.cpuMicrosPerRequest);
    const ratios = baseSamples?.map((sample, round) => sample.cpuMicrosPerRequest / cpu[round]);
    return {
      peer,
      requestsPerSecond: middle('requestsPerSecond'),
      cpuMicrosPerRequest: median(cpu),
      cpuSpread: spread(cpu),
      p50Us: middle('p50Us'),
      p99Us: middle('p99Us'),
      residentBytes: middle('residentBytes'),
      failed: samples.reduce((sum, sample) => sum + sample.failed, 0),
      ...(ratios === undefined ? {} : { ratio: median(ratios) }),
    };
  });
}
