// A server that has an admin interface and nothing else.
import assert from 'node:assert/strict';
import type { AdminHost } from '../../../src/admin/host.js';
import { AdminServer } from '../../../src/admin/admin-server.js';
import {
  REQUEST_HEADERS,
  type AdminReply,
  type AdminRequest,
  type RequestHeader,
} from '../../../src/admin/http/http.js';
import { Log } from '../../../src/logging/logger.js';
import type { AdminPlan } from '../../../src/plan/bootstrap/admin.js';
import { ControlStats } from '../../../src/stats/control-stats.js';
import { Drain } from '../../../src/lifecycle/drain.js';
import { Runtime } from '../../../src/runtime/runtime.js';
import { takeSnapshot, valuesOf } from '../../../src/runtime/snapshot.js';
import { RuntimeValues } from '../../../src/plan/runtime/runtime.js';
import { RuntimeReads } from '../../../src/plan/runtime/runtime-reads.js';
import type { ServerState } from '../../../src/lifecycle/state.js';
import { Taps } from '../../../src/taps/taps.js';
import { FakeNative, textOf } from '../support/fake-native.js';
import { optionsOf } from '../support/options.js';

export const PLAN: AdminPlan = {
  address: { host: '127.0.0.1', port: 0 },
  accessLogs: [],
  ignoresConnectionLimit: false,
  profilePath: '',
  socketOptions: [],
  allowPaths: [],
};

export class FakeHost implements AdminHost {
  /** What was asked of the server, in order. */
  readonly asked: string[] = [];
  /** What the runtime's slots were set to, and what says which there are. */
  slots: readonly number[] = [];
  reads = new RuntimeReads(new RuntimeValues());
  options = optionsOf('-c', 'bootstrap.yaml');
  bootstrap: AdminHost['bootstrap'] = {};
  configuredMs = Date.UTC(2026, 10, 21, 7, 30, 0, 25);
  node = {};
  concurrency = 2;
  readonly native = new FakeNative();
  readonly sockets = {
    openListenSocket: () => ({ fd: -1, address: '', error: '', failures: [] }),
    acceptConnections: () => ({
      pause: () => undefined,
      resume: () => undefined,
      close: () => undefined,
      closeWhenAccepted: () => undefined,
    }),
    receivedBytes: () => 0,
    duplicateDescriptor: () => -1,
  };
  readonly stats = new ControlStats(this.native);
  taps = new Taps(this.native, [], () => undefined);
  readonly drain = new Drain(this.native, { seconds: 600, strategy: 'gradual' });
  readonly log = new Log({ level: 'off', pattern: '%v' });
  runtime = this.makeRuntime({});
  flushesOnAdmin = false;
  tlsContexts: AdminHost['tlsContexts'] = [];
  hystrix: AdminHost['hystrix'] = undefined;
  xds: AdminHost['xds'] = undefined;
  droppedListeners: AdminHost['droppedListeners'] = new Set<string>();
  madeClusters: AdminHost['madeClusters'] = [];
  serverState: ServerState = 'LIVE';
  isHealthy = true;

  state(): ServerState {
    return this.serverState;
  }
  makeRuntime(bootstrap: AdminHost['bootstrap'], serviceCluster = ''): Runtime {
    const source = { bootstrap, serviceCluster };
    const first = takeSnapshot(source);
    this.reads = new RuntimeReads(valuesOf(first));
    return new Runtime(source, first, {
      stats: this.stats,
      reads: this.reads,
      setSlots: (values) => (this.slots = values),
      setClusters: () => undefined,
      setFaults: () => undefined,
      log: (level, message) => this.asked.push(`${level} ${message}`),
    });
  }
  uptimeMs(): number {
    return 61_500;
  }
  uptimeOfAllEpochsMs(): number {
    return this.uptimeMs();
  }
  readonly hotRestartVersion = '1.1';
  readonly isHotRestartInitializing = false;
  setHealthy(healthy: boolean): void {
    this.isHealthy = healthy;
  }
  flushStats(): void {
    this.asked.push('flush');
  }
  reopenLogs(): void {
    this.asked.push('reopen');
  }
  readonly quit = (): void => {
    this.asked.push('quit');
  };
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Partial<Record<RequestHeader, string>>;
  readonly body?: string;
  readonly rawHeaders?: readonly string[];
}

export const NO_CONNECTION = { id: 0, remoteAddress: '', localAddress: '', receivedBytes: 0 };
export const NOTHING_SENT = { headers: [], ofBody: 0, onWire: 0, isCut: false };

/** An admin server that is asked without a network. */
export class AskedServer {
  readonly host = new FakeHost();
  readonly server: AdminServer;

  constructor(plan: Partial<AdminPlan> = {}, host?: FakeHost) {
    this.host = host ?? this.host;
    this.server = new AdminServer(this.host, { ...PLAN, ...plan });
  }

  get(target: string, asking: Asking = {}): { status: number; type: string; text: string } {
    const reply = this.ask(target, { method: 'GET', ...asking });
    assert.ok(typeof reply.body === 'string' || 'next' in reply.body, 'the answer has no end');
    return { status: reply.status ?? 200, type: reply.type ?? 'text', text: textOf(reply.body) };
  }

  getBytes(target: string, method = 'GET'): Buffer {
    const { body } = this.ask(target, { method });
    assert.ok(typeof body === 'object' && 'next' in body);
    return body.next() ?? Buffer.alloc(0);
  }

  post(target: string, asking: Asking = {}): { status: number; type: string; text: string } {
    return this.get(target, { ...asking, method: 'POST' });
  }

  ask(target: string, asking: Asking): AdminReply {
    const request = this.request(target, asking);
    const reply = this.server.answer(request);
    this.server.finished(request, reply, NOTHING_SENT);
    reply.then?.();
    return reply;
  }

  request(
    target: string,
    { method = 'GET', headers = {}, body = '', rawHeaders = [] }: Asking,
  ): AdminRequest {
    const none = Object.fromEntries(REQUEST_HEADERS.map((name) => [name, ''])) as Record<
      RequestHeader,
      string
    >;
    return {
      method,
      target,
      headers: { ...none, host: 'localhost:9901', ...headers },
      body,
      namesHost: true,
      asksToClose: false,
      beganMs: Date.now(),
      rawHeaders,
      connection: NO_CONNECTION,
    };
  }
}
