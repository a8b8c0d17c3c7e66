// What comes on the sockets by which processes talk to each other may be anything: of another
// version, of a process that has lost its mind, of somebody who tries. It ends nobody.
import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Channel } from '../../../src/hot-restart/channel.js';
import { fragment, type Whole } from '../../../src/hot-restart/fragments.js';
import {
  decodeRequest,
  encodeReply,
  encodeRequest,
  type Reply,
  type Request,
} from '../../../src/hot-restart/messages.gen.js';
import { regionName, socketName } from '../../../src/hot-restart/names.js';
import { hotRestartVersion } from '../../../src/hot-restart/version.js';
import { loadAddon } from '../../../src/native.js';
import type { MessageSocket } from '../../../src/native-hot-restart.js';
import { randomNumbers, type Random } from '../../unit/support/mutation.js';
import { ADMIN_ONLY, says, webBootstrap } from '../support/bootstraps.js';
import { Command, makeFolder, untilLive } from '../support/start-proxy.js';
import { Epochs, readStats } from './epochs.js';

/** FAIRLEAD_TEST_DATAGRAMS=50000 takes a minute. */
const DATAGRAMS = Number(process.env.FAIRLEAD_TEST_DATAGRAMS ?? 4000);
const STARTS = 20;
const POLL_MS = 1;
/** A connection to the admin server may come and go. */
const MORE_DESCRIPTORS = 1;
const { EAGAIN } = constants.errno;
const BASE_ID = 200_000_000 + process.pid;

const addon = loadAddon().hotRestart;
const version = hotRestartVersion(addon);

/** Bytes that are changed, missing or more. */
function mutated(bytes: Uint8Array, random: Random): Buffer {
  const result = Buffer.from(bytes);
  for (let count = random(6); count > 0; count -= 1) {
    if (result.length > 0) result[random(result.length)] = random(256);
  }
  const length = random(3) === 0 ? random(result.length + 1) : result.length;
  const more = random(5) === 0 ? Buffer.alloc(random(100), random(256)) : Buffer.alloc(0);
  return Buffer.concat([result.subarray(0, length), more]);
}

/** What is asked by nobody that the process knows, or would not be answered. */
const REQUESTS: readonly Request[] = [
  { conversation: 1, number: 1, attach: { version: '0.0', epoch: 1, replyTo: '@nobody' } },
  { conversation: 2, number: 1, attach: { version, epoch: 0, replyTo: '' } },
  { conversation: 3, number: 1, attach: { version, replyTo: `@${'x'.repeat(200)}` } },
  { conversation: 4, number: 2, shutDownAdmin: {} },
  { conversation: 5, number: 3, takeSockets: { first: 2 ** 40 } },
  { conversation: 6, number: 4, drainListeners: { takenAddresses: ['127.0.0.1:1', '', '\0'] } },
  { conversation: 7, number: 5, getStats: { connectionsOnly: true } },
  { conversation: 8, number: 6, terminate: {} },
];

class Sender {
  readonly #socket: MessageSocket;
  readonly #random: Random;
  #sent = 0;

  constructor(t: TestContext, random: Random) {
    const socket = addon.openSocket();
    assert.ok(typeof socket === 'object');
    this.#socket = socket;
    this.#random = random;
    t.after(() => socket.close());
  }

  async sendNow(to: string, datagram: Buffer, descriptors: readonly number[]): Promise<void> {
    while (this.#socket.send(to, datagram, descriptors) === EAGAIN) await sleep(POLL_MS);
  }

  /** A datagram of any kind, with any descriptors. */
  async send(to: string): Promise<void> {
    const random = this.#random;
    this.#sent += 1;
    const request = encodeRequest(REQUESTS[this.#sent % REQUESTS.length] ?? {});
    const message = random(2) === 0 ? mutated(request, random) : request;
    const [first = Buffer.alloc(0)] = fragment(message, random(20), this.#sent, 100_000);
    const datagram = random(2) === 0 ? mutated(first, random) : first;
    const lifelines = Array.from({ length: random(3) }, () => addon.openLifeline()).flat();
    const files = Array.from({ length: random(3) }, () => openSync('/dev/null', 'r'));
    await this.sendNow(to, datagram, [...lifelines, ...files]);
    addon.closeDescriptors(lifelines);
    for (const file of files) closeSync(file);
  }
}

/** The first half of a message. */
function begunMessage(sender: number): Buffer {
  const [whole = Buffer.alloc(0)] = fragment(Buffer.alloc(10), sender, 0, 100_000);
  return whole.subarray(0, -5);
}

function descriptorCount({ process }: Command): number {
  return readdirSync(`/proc/${process.pid}/fd`).length;
}

test('datagrams of any kind end no process, leave nothing open and keep nobody waiting', async (t) => {
  const path = join(makeFolder(t), 'restart');
  const epochs = new Epochs(t, ADMIN_ONLY, '--socket-path', path, '-l', 'error');
  const first = await epochs.start(0);
  const baseId = Number(epochs.baseId);
  const before = descriptorCount(first.command);
  const sender = new Sender(t, randomNumbers(4711));
  let slowestMs = 0;
  for (let i = 0; i < DATAGRAMS; i += 1) {
    await sender.send(socketName(path, i % 3 === 0 ? 'child' : 'parent', baseId, 0));
    if (i % 500 > 0) continue;
    const began = performance.now();
    assert.equal((await fetch(`${first.adminUrl}/ready`)).status, 200);
    slowestMs = Math.max(slowestMs, performance.now() - began);
  }

  assert.ok(slowestMs < 1000, `${slowestMs} ms`);
  const stats = await readStats(first.adminUrl, 'envoy_bug_failures');
  assert.equal(stats.get('server.envoy_bug_failures'), 0, first.command.stderr);
  // Other messages that are begun take the place of those.
  for (let i = 0; i < 10; i += 1) {
    await sender.sendNow(socketName(path, 'parent', baseId, 0), begunMessage(100 + i), []);
    await sender.sendNow(socketName(path, 'child', baseId, 0), begunMessage(100 + i), []);
  }
  while (descriptorCount(first.command) > before + MORE_DESCRIPTORS) await sleep(POLL_MS);
  const second = await epochs.start(1);
  assert.equal((await fetch(`${second.adminUrl}/ready`)).status, 200);
});

interface Answer {
  readonly reply: Reply;
  /** They are closed once they are sent. */
  readonly descriptors?: readonly number[];
}
type Answers = (request: Request) => readonly Answer[];

function goodAnswer(request: Request): Answer {
  if (request.attach) {
    const [kept, theirs] = addon.openLifeline();
    openFor.push(kept);
    return { reply: { attached: { generation: 1 } }, descriptors: [theirs] };
  }
  if (request.shutDownAdmin) return { reply: { adminShutDown: { originalStartMs: Date.now() } } };
  if (request.takeSockets) return { reply: { sockets: {} } };
  if (request.getStats) return { reply: { stats: {} } };
  return { reply: { done: {} } };
}

/** Ends of lifelines, while their story is told. */
const openFor: number[] = [];

/** Plays epoch 0 for one successor, and says how that one fares: "LIVE", or its end. */
async function outcomeOfSuccessor(
  t: TestContext,
  answers: Answers,
  change: (bytes: Buffer) => Buffer = (bytes) => bytes,
): Promise<string> {
  const folder = makeFolder(t);
  const [config, path] = [join(folder, 'bootstrap.json'), join(folder, 'restart')];
  writeFileSync(config, JSON.stringify(webBootstrap([says('/', 'here')])));
  const { region } = addon.createRegion(regionName(BASE_ID));
  assert.ok(region);
  region.serve(0, 1);
  const replyTo = new Map<number, string>();
  const hear = ({ message, descriptors }: Whole): void => {
    addon.closeDescriptors(descriptors);
    const request = decodeRequest(message);
    if (!request) return;
    const { conversation = 0, number = 0, attach } = request;
    if (attach) replyTo.set(conversation, attach.replyTo ?? '');
    for (const { reply, descriptors: beside = [] } of answers(request)) {
      const bytes = change(Buffer.from(encodeReply({ ...reply, conversation, number })));
      // It may have given up.
      const sent = parent.send(replyTo.get(conversation) ?? '', bytes, beside);
      void sent.catch(() => undefined).then(() => addon.closeDescriptors(beside));
    }
  };
  const parent = new Channel(addon, socketName(path, 'parent', BASE_ID, 0), 0o600, hear);
  const address = join(folder, 'admin');
  const child = new Command(
    t,
    ...['-c', config, '--restart-epoch', '1', '--base-id', String(BASE_ID), '--concurrency', '1'],
    ...['--socket-path', path, '--admin-address-path', address, '-l', 'error'],
  );
  try {
    await untilLive(child, address);
    await child.end('SIGKILL');
    return 'LIVE';
  } catch {
    const { code, signal, stderr } = await child.ended;
    return `${signal ?? code}: ${stderr}`;
  } finally {
    parent.close();
    region.close();
    addon.closeDescriptors(openFor.splice(0));
  }
}

/** The parent's own answer instead of a good one. */
const instead =
  (kind: keyof Request, answer: () => Answer): Answers =>
  (request) => [request[kind] ? answer() : goodAnswer(request)];

const plainFile = (): number => openSync(import.meta.filename, 'r');
const someSockets = (...descriptors: readonly number[]): Answer => ({
  reply: {
    sockets: { sockets: [{ listener: 'web', address: '127.0.0.1:1', anyPort: true }] },
  },
  descriptors,
});
const ODD: readonly (readonly [string, Answers, RegExp])[] = [
  ['nothing odd', instead('farewell', () => ({ reply: {} })), /^LIVE$/],
  [
    'no lifeline',
    instead('attach', () => ({ reply: { attached: {} } })),
    /^1: the parent process \(epoch 0\) gives a wrong answer: its descriptors/,
  ],
  [
    'two lifelines',
    instead('attach', () => ({ reply: { attached: {} }, descriptors: addon.openLifeline() })),
    /^1: the parent process \(epoch 0\) gives a wrong answer: its descriptors/,
  ],
  [
    'a lifeline that is a file',
    instead('attach', () => ({ reply: { attached: {} }, descriptors: [plainFile()] })),
    /^1: the parent process \(epoch 0\) gives a wrong answer: its descriptors/,
  ],
  [
    'another kind of answer',
    instead('shutDownAdmin', () => ({ reply: { done: {} } })),
    /^1: the parent process \(epoch 0\) gives a wrong answer: not AdminShutDown/,
  ],
  [
    'a refusal in the middle',
    instead('getStats', () => ({ reply: { refusal: 'for no reason' } })),
    /^1: for no reason/,
  ],
  [
    'sockets without descriptors',
    instead('takeSockets', () => someSockets()),
    /^1: the parent process \(epoch 0\) gives a wrong answer: its descriptors/,
  ],
  [
    'a socket that is a file',
    instead('takeSockets', () => someSockets(plainFile())),
    /^1: the parent process \(epoch 0\) gives a wrong answer: its descriptors/,
  ],
  [
    'a socket that does not listen',
    instead('takeSockets', () => someSockets(addon.openLifeline()[0])),
    /^1: the parent process \(epoch 0\) gives a wrong answer: its descriptors/,
  ],
  [
    'a socket for the admin server that does not listen',
    instead('shutDownAdmin', () => ({
      reply: { adminShutDown: { address: '127.0.0.1:0' } },
      descriptors: [addon.openLifeline()[0]],
    })),
    /^1: the parent process \(epoch 0\) gives a wrong answer: its descriptors/,
  ],
  [
    'an address of the admin server, but no socket',
    instead('shutDownAdmin', () => ({ reply: { adminShutDown: { address: '127.0.0.1:0' } } })),
    /^1: the parent process \(epoch 0\) gives a wrong answer: its descriptors/,
  ],
  [
    'statistics that are none',
    instead('getStats', () => ({ reply: { stats: { batch: Buffer.from('none at all') } } })),
    /^LIVE$/,
  ],
  [
    'numbers that nobody has',
    (request) => {
      const { reply, descriptors = [] } = goodAnswer(request);
      if (reply.attached) return [{ reply: { attached: { generation: 2 ** 63 } }, descriptors }];
      if (reply.stats) return [{ reply: { stats: { connections: 2 ** 63 } } }];
      if (!reply.adminShutDown) return [{ reply }];
      return [{ reply: { adminShutDown: { originalStartMs: 2 ** 63 } } }];
    },
    /^LIVE$/,
  ],
  [
    'a farewell before anything',
    (request) => [{ reply: { leaving: {} }, descriptors: [plainFile()] }, goodAnswer(request)],
    /^LIVE$/,
  ],
];

for (const [what, answers, outcome] of ODD) {
  test(`a parent gives ${what}: its successor says so, or serves`, async (t) => {
    assert.match(await outcomeOfSuccessor(t, answers), outcome);
  });
}

test('whatever a parent answers, its successor serves or says that there is no getting on', async (t) => {
  const random = randomNumbers(815);
  for (let i = 0; i < STARTS; i += 1) {
    let sent = 0;
    const outcome = await outcomeOfSuccessor(
      t,
      // The good answer comes in any case.
      (request) => [goodAnswer(request), goodAnswer(request)],
      (bytes) => {
        sent += 1;
        if (sent % 2 === 0) return bytes;
        // What it belongs to stays.
        return Buffer.concat([bytes.subarray(0, 11), mutated(bytes.subarray(11), random)]);
      },
    );
    assert.match(outcome, /^LIVE$|^1: .*parent process/, `start ${i}`);
    assert.doesNotMatch(outcome, /exception|Error/, `start ${i}`);
  }
});
