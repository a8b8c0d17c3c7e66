// What becomes of updates, whichever way they come: judged whole, applied only where nothing is wrong
// anywhere, counted.
import { after, type Maybe } from '../base/after.js';
import { formatIssue, type Issue } from '../config/issues/issue.js';
import type { PlainObject } from '../config/values/objects.js';
import { Place } from '../plan/message/place.js';
import type { SubscriptionHost } from './subscription-host.js';

export interface Resource {
  /** Of incremental streams; '' where only its message says it. */
  readonly name: string;
  readonly message: PlainObject;
  readonly place: Place;
  /** Its own; '' where only the update has one. */
  readonly version: string;
  /** Of one that is judged by itself: the rules that it breaks (own-faults). */
  readonly faults: readonly Issue[];
  /** Of deprecated fields, by whoever makes of it what it says. */
  readonly madeUses: number;
}

/** What is wrong; undefined: nothing. */
export type Wrong = string | undefined;

/** Applies what has been judged; answers what is refused after all. */
export type Commit = () => Maybe<Wrong>;

/**
 * Judges the resources of an update, and changes nothing but what is shown of it: what is wrong with one goes to its place,
 * what is wrong with all of them is the answer. What is to be done where nothing is wrong, otherwise.
 * Both may take a while, so that thousands of resources do not hold up the control thread. `removed`: as Watcher's.
 */
export type JudgeResources = (
  resources: readonly Resource[],
  version: string,
  describe: (issue: Issue) => string,
  removed?: readonly string[],
) => Maybe<string | Commit>;

/** Of an update, beside what came with it. */
export interface UpdateWays {
  readonly describe?: (issue: Issue) => string;
  /** As Watcher's. */
  readonly removed?: readonly string[] | undefined;
}

/** A resource as it came. */
export interface Offered {
  readonly message: PlainObject;
  readonly name?: string;
  readonly version?: string;
  readonly faults?: readonly Issue[] | undefined;
  readonly madeUses?: number | undefined;
}

/** One of many: its place is made where somebody asks for it, and of thousands hardly anybody does. */
class PlacedResource implements Resource {
  readonly #offered: Offered;
  readonly #at: Place;
  readonly #index: number;

  constructor(offered: Offered, at: Place, index: number) {
    this.#offered = offered;
    this.#at = at;
    this.#index = index;
  }

  get name(): string {
    return this.#offered.name ?? '';
  }

  get message(): PlainObject {
    return this.#offered.message;
  }

  get place(): Place {
    return this.#at.index(this.#index);
  }

  get version(): string {
    return this.#offered.version ?? '';
  }

  get faults(): readonly Issue[] {
    return this.#offered.faults ?? [];
  }

  get madeUses(): number {
    return this.#offered.madeUses ?? 0;
  }
}

export interface UpdatesPlan {
  /** How the names of its statistics begin. */
  readonly statPrefix: string;
  /** Resources of any other type are refused. */
  readonly type: string;
  readonly judge: JudgeResources;
  /** Each is taken or refused by itself. */
  readonly judgesEach?: boolean | undefined;
  /** An update was refused, could not be read from its file, or has not come in time. */
  readonly onRejected?: (() => void) | undefined;
}

export class Updates {
  readonly #plan: UpdatesPlan;
  readonly #host: SubscriptionHost;
  /** The latest of those that take a while. */
  #last: Promise<Wrong> | undefined;

  constructor(plan: UpdatesPlan, host: SubscriptionHost) {
    this.#plan = plan;
    this.#host = host;
  }

  /** Of its resources. */
  get type(): string {
    return this.#plan.type;
  }

  count(
    name: 'update_attempt' | 'update_failure' | 'update_rejected' | 'init_fetch_timeout',
  ): void {
    this.#host.stats.countSeldom(this.#plan.statPrefix + name);
    if (name === 'update_rejected' || name === 'init_fetch_timeout') this.#plan.onRejected?.();
  }

  /** What should say what there is cannot be read; whoever asks over a network asks again. */
  fail(): void {
    this.count('update_failure');
    this.#plan.onRejected?.();
  }

  /** What was asked for is not there, or is what was taken before: that counts as any update does. */
  tellNothingNew(version: string, startedMs = performance.now()): void {
    this.#host.stats.tellUpdate(this.#plan.statPrefix, version, startedMs);
  }

  /** One after the other. What is wrong; `startedMs`: of performance.now(). */
  take(
    messages: readonly Offered[],
    version: string,
    startedMs: number,
    { describe = formatIssue, removed }: UpdateWays = {},
  ): Maybe<Wrong> {
    const run = (): Maybe<Wrong> =>
      after(this.#apply(messages, version, describe, removed), (wrong) => {
        if (wrong === undefined)
          this.#host.stats.tellUpdate(this.#plan.statPrefix, version, startedMs);
        return wrong;
      });
    const taken = this.#last ? this.#last.then(run) : run();
    if (!(taken instanceof Promise)) return taken;
    this.#last = taken;
    return taken.finally(() => {
      if (this.#last === taken) this.#last = undefined;
    });
  }

  #apply(
    messages: readonly Offered[],
    version: string,
    describe: (issue: Issue) => string,
    removed: readonly string[] | undefined,
  ): Maybe<Wrong> {
    const issues: Issue[] = [];
    const at = Place.root(issues).field('resources');
    const resources = messages.map((offered, index) => new PlacedResource(offered, at, index));
    for (const resource of resources) {
      if (!this.#plan.judgesEach) {
        issues.push(...resource.faults);
        this.#host.stats.countDeprecated(resource.madeUses);
      }
      const type = resource.message['$type'];
      if (type === this.#plan.type) continue;
      resource.place.error(`Unable to unpack as ${this.#plan.type}: ${String(type)}`);
    }
    if (issues.length > 0) return issues.map(describe).join('\n');
    return after(this.#plan.judge(resources, version, describe, removed), (verdict) => {
      if (typeof verdict === 'string') return verdict;
      const isWarning = ({ severity }: Issue): boolean => severity === 'warning';
      for (const warning of issues.filter(isWarning)) this.#host.log('warning', describe(warning));
      const errors = issues.filter((issue) => !isWarning(issue)).map(describe);
      return errors.length > 0 ? errors.join('\n') : verdict();
    });
  }
}
