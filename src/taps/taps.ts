// Taps of the data plane: what they record goes to files, or to the one client that has asked for it
// by POST /tap.
import { appendFile } from 'node:fs';
import { guarded } from '../base/bugs.js';
import type { ApplyError, NativeProxy } from '../native.js';
import type { TapDeclaration, TapPlan } from '../plan/match/tap.js';
import { encodeUpdate } from '../plan/plan.gen.js';
import { formatTrace, traceExtension } from './trace-text.js';
import { startTimeout } from '../base/timers.js';

/** Where the client of POST /tap is written to. */
export interface TapClient {
  write(piece: Buffer): void;
  end(): void;
}

interface Session {
  readonly configId: string;
  readonly plan: TapPlan;
  readonly client: TapClient;
  readonly waiting: Buffer[];
  timer: NodeJS.Timeout | undefined;
}

type Native = Pick<NativeProxy, 'apply' | 'onTrace'>;

export class Taps {
  readonly #native: Native;
  readonly #declarations: readonly TapDeclaration[];
  readonly #onFileError: (message: string) => void;
  #session: Session | undefined;

  /** `mayGrow`: listeners that come later may declare more. */
  constructor(
    native: Native,
    declarations: readonly TapDeclaration[],
    onFileError: (message: string) => void,
    mayGrow = false,
  ) {
    this.#native = native;
    this.#declarations = declarations;
    this.#onFileError = onFileError;
    if (declarations.length > 0 || mayGrow) {
      const take = (tap: number, trace: bigint, bytes: Buffer): void =>
        this.#take(tap, trace, bytes);
      native.onTrace(guarded('a trace of a tap', take));
    }
  }

  /** Whether any tap waits for a client. */
  get areAsked(): boolean {
    return this.#declarations.some((one) => 'configId' in one);
  }

  has(configId: string): boolean {
    return this.#idsOf(configId).length > 0;
  }

  /** There is one client at a time. */
  get isTaken(): boolean {
    return this.#session !== undefined;
  }

  /** Begins to record for that client; what comes back ends it. */
  attach(configId: string, plan: TapPlan, client: TapClient): () => void {
    const session: Session = { configId, plan, client, waiting: [], timer: undefined };
    this.#session = session;
    const { sink } = plan;
    if (sink.kind === 'buffer' && sink.timeoutMs !== undefined) {
      session.timer = startTimeout(() => this.#finish(session), sink.timeoutMs).unref();
    }
    this.#tell(configId, plan);
    return () => this.#detach(session);
  }

  #idsOf(configId: string): number[] {
    return this.#declarations.flatMap((one, id) =>
      'configId' in one && one.configId === configId ? [id] : [],
    );
  }

  #tell(configId: string, plan: TapPlan | undefined): readonly ApplyError[] {
    const taps = this.#idsOf(configId).map((id) => ({ id, ...(plan && { tap: plan.tap }) }));
    return this.#native.apply(encodeUpdate({ taps }));
  }

  #take(id: number, traceId: bigint, bytes: Buffer): void {
    const declared = this.#declarations[id];
    if (!declared) return;
    if (!('configId' in declared)) {
      if (declared.plan) this.#store(declared.plan, traceId, bytes);
      return;
    }
    const session = this.#session;
    if (!session || session.configId !== declared.configId) return;
    const { plan, client, waiting } = session;
    if (plan.sink.kind === 'file') {
      this.#store(plan, traceId, bytes);
      return;
    }
    const piece = formatTrace(bytes, traceId, plan.format);
    if (plan.sink.kind === 'stream') {
      client.write(piece);
      return;
    }
    waiting.push(piece);
    if (waiting.length >= plan.sink.maxTraces) this.#finish(session);
  }

  #store({ sink, format }: TapPlan, traceId: bigint, bytes: Buffer): void {
    if (sink.kind !== 'file') return;
    const path = `${sink.pathPrefix}_${traceId}.${traceExtension(format)}`;
    const written = (error: Error | null): void => {
      if (error) this.#onFileError(`a trace cannot be written: ${error.message}`);
    };
    appendFile(path, formatTrace(bytes, traceId, format), guarded('a trace of a tap', written));
  }

  #finish(session: Session): void {
    for (const piece of session.waiting) session.client.write(piece);
    this.#detach(session);
    session.client.end();
  }

  #detach(session: Session): void {
    if (this.#session !== session) return;
    clearTimeout(session.timer);
    this.#session = undefined;
    this.#tell(session.configId, undefined);
  }
}
