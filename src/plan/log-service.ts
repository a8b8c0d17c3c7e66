// Services that access logs are sent to. Loggers that say the same of one share it.
import type { HttpServicePlan } from './http-service.js';
import type { GrpcServicePlan } from './service-plan.js';

interface Common {
  /** How long workers hold what they have gathered. */
  readonly flushMs: number;
}

/** envoy.service.accesslog.v3.AccessLogService: a stream of what is logged. */
export interface StreamLogPlan extends Common {
  readonly kind: 'stream';
  readonly service: GrpcServicePlan;
  readonly logName: string;
  readonly isTcp: boolean;
}

/** OpenTelemetry's logs, each message by a call or a request of its own. */
export interface OtelLogPlan extends Common {
  readonly kind: 'otel';
  readonly via: GrpcServicePlan | OtelHttpPlan;
  /** Where is counted what was taken: "access_logs.open_telemetry_access_log." */
  readonly statPrefix: string;
  /** What all records are of, but for what this server says of itself. */
  readonly resource: readonly OtelAttribute[];
  /** The name among what this server says of itself; absent: it says nothing. */
  readonly logName?: string;
}

/** Over HTTP. */
export interface OtelHttpPlan {
  readonly kind: 'http';
  readonly service: HttpServicePlan;
}

/** Its value as protobuf has it: an AnyValue. */
export interface OtelAttribute {
  readonly key: string;
  readonly value: Uint8Array;
}

export type LogServicePlan = StreamLogPlan | OtelLogPlan;

/** All there ever are; their numbers are their places. */
export class LogServices {
  readonly #plans: LogServicePlan[] = [];
  readonly #ids = new Map<string, number>();
  /** Told of each that comes from now on. */
  onAdded: ((id: number) => void) | undefined;

  get plans(): readonly LogServicePlan[] {
    return this.#plans;
  }

  /** `sameness`: what loggers that share it have in common. */
  add(plan: LogServicePlan, sameness: string): number {
    const known = this.#ids.get(sameness);
    if (known !== undefined) return known;
    const id = this.#plans.push(plan) - 1;
    this.#ids.set(sameness, id);
    this.onAdded?.(id);
    return id;
  }
}
