// Resources of one kind from one file: read at the start and whenever the file is replaced. An update
// that is wrong anywhere is refused whole, and what was there before it goes on.
import type { Issue } from '../config/issues/issue.js';
import type { PlainObject } from '../config/values/objects.js';
import type { Level } from '../logging/levels.js';
import type { FileSource } from '../plan/config-source.js';
import { Place } from '../plan/message/place.js';
import type { ControlStats } from '../stats/control-stats.js';
import { FileWatch } from './file-watch.js';
import { readResourceFile, type ReadOptions } from './resource-file.js';

/** What subscriptions share. */
export interface SubscriptionHost extends ReadOptions {
  readonly stats: ControlStats;
  readonly log: (level: Level, message: string) => void;
}

export interface Resource {
  readonly message: PlainObject;
  readonly place: Place;
}

/** Applies what has been judged; answers what is refused after all. */
export type Commit = () => string | undefined;

/**
 * Judges the resources of an update, and changes nothing: what is wrong with one goes to its place,
 * what is wrong with all of them is the answer. What is to be done where nothing is wrong, otherwise.
 */
export type JudgeResources = (
  resources: readonly Resource[],
  version: string,
  describe: (issue: Issue) => string,
) => string | Commit;

export interface SubscriptionPlan {
  readonly source: FileSource;
  /** How the names of its statistics begin. */
  readonly statPrefix: string;
  /** Resources of any other type are refused. */
  readonly type: string;
  readonly judge: JudgeResources;
}

export class Subscription {
  readonly #plan: SubscriptionPlan;
  readonly #host: SubscriptionHost;
  #watch: FileWatch | undefined;

  constructor(plan: SubscriptionPlan, host: SubscriptionHost) {
    this.#plan = plan;
    this.#host = host;
  }

  /** The first update has been taken or refused when this returns. */
  start(): void {
    try {
      this.#watch = new FileWatch(this.#plan.source, () => this.#refresh());
    } catch (error) {
      this.#host.log(
        'error',
        `cannot watch ${this.#plan.source.path}: ${(error as Error).message}`,
      );
    }
    this.#refresh();
  }

  stop(): void {
    this.#watch?.close();
  }

  /** Reads the file again, as if it had been replaced. */
  refresh(): void {
    this.#refresh();
  }

  #refresh(): void {
    const { stats, log } = this.#host;
    const { path } = this.#plan.source;
    const startedMs = performance.now();
    log('debug', `Filesystem config refresh for ${path}`);
    this.#count('update_attempt');
    const read = readResourceFile(path, this.#host);
    if ('why' in read && !read.isRefused) {
      log('warning', `Filesystem config update failure: ${read.why}`);
      this.#count('update_failure');
      return;
    }
    if ('file' in read) {
      stats.count('server.dynamic_unknown_fields', read.file.unknownFieldCount);
      for (const warning of read.file.warnings) log('warning', warning);
    }
    const version = 'file' in read ? read.file.version : '';
    const wrong =
      'why' in read ? read.why : this.#take(read.file.resources, version, read.file.describe);
    if (wrong !== undefined) {
      log('warning', `Filesystem config update rejected: ${wrong}`);
      this.#count('update_rejected');
      return;
    }
    const { statPrefix } = this.#plan;
    stats.setGauge(`${statPrefix}update_time`, Date.now());
    stats.setHash(`${statPrefix}version`, version);
    stats.setText(`${statPrefix}version_text`, version);
    stats.record(`${statPrefix}update_duration`, Math.round(performance.now() - startedMs));
    this.#count('update_success');
    log('debug', `Filesystem config update accepted for ${path}: version '${version}'`);
  }

  /** What is wrong. */
  #take(
    messages: readonly PlainObject[],
    version: string,
    describe: (issue: Issue) => string,
  ): string | undefined {
    const issues: Issue[] = [];
    const at = Place.root(issues).field('resources');
    const resources = messages.map((message, index) => ({ message, place: at.index(index) }));
    for (const { message, place } of resources) {
      if (message['$type'] === this.#plan.type) continue;
      place.error(`Unable to unpack as ${this.#plan.type}: ${String(message['$type'])}`);
    }
    if (issues.length > 0) return issues.map(describe).join('\n');
    const verdict = this.#plan.judge(resources, version, describe);
    if (typeof verdict === 'string') return verdict;
    const isWarning = ({ severity }: Issue): boolean => severity === 'warning';
    for (const warning of issues.filter(isWarning)) this.#host.log('warning', describe(warning));
    const errors = issues.filter((issue) => !isWarning(issue)).map(describe);
    return errors.length > 0 ? errors.join('\n') : verdict();
  }

  #count(name: string): void {
    this.#host.stats.count(this.#plan.statPrefix + name);
  }
}
