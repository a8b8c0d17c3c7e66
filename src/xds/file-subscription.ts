// Resources of one kind from one file: read at the start and whenever the file is replaced.
import { after, type Maybe } from '../base/after.js';
import { unawaited } from '../base/bugs.js';
import type { FileSource } from '../plan/sources.js';
import { FileWatch } from './file-watch.js';
import { sortDeprecated, type DeprecatedUses } from './own-faults.js';
import { readResourceFile, type ResourceFile } from './resource-file.js';
import type { SubscriptionHost } from './subscription-host.js';
import type { Transport } from './transport.js';
import type { Updates } from './updates.js';

export class FileSubscription implements Transport {
  readonly #source: FileSource;
  readonly #updates: Updates;
  readonly #host: SubscriptionHost;
  #watch: FileWatch | undefined;
  /**
   * What is in use, of a file that is looked at every so often; undefined: all that comes is to be taken, as what was
   * refused may be in use in part.
   */
  #taken: string | undefined;

  constructor(source: FileSource, updates: Updates, host: SubscriptionHost) {
    this.#source = source;
    this.#updates = updates;
    this.#host = host;
  }

  start(onFirst: () => void): void {
    try {
      this.#watch = new FileWatch(this.#source, () => this.#readAgain());
    } catch (error) {
      this.#host.log('error', `cannot watch ${this.#source.path}: ${(error as Error).message}`);
    }
    unawaited('the first update of a file', after(this.#read(), onFirst));
  }

  stop(): void {
    this.#watch?.close();
  }

  /** Reads the file again, as if it had been replaced. */
  refresh(): void {
    this.#taken = undefined;
    this.#readAgain();
  }

  #readAgain(): void {
    unawaited('an update of a file', this.#read());
  }

  #deprecatedIn({ issues, message, resources }: ResourceFile): DeprecatedUses {
    const uses = sortDeprecated(issues, message, resources, this.#updates.type);
    this.#host.stats.countDeprecated(uses.read);
    return uses;
  }

  /** Until it has been taken or refused. */
  #read(): Maybe<void> {
    const { stats, log } = this.#host;
    const { path } = this.#source;
    const startedMs = performance.now();
    log('debug', `Filesystem config refresh for ${path}`);
    this.#updates.count('update_attempt');
    const read = readResourceFile(path, this.#host, this.#source.isCollection);
    if ('why' in read && !read.isRefused) {
      log('warning', `Filesystem config update failure: ${read.why}`);
      this.#updates.fail();
      return;
    }
    if ('file' in read) {
      stats.count('server.dynamic_unknown_fields', read.file.unknownFieldCount);
      for (const warning of read.file.warnings) log('warning', warning);
    }
    const polled =
      'file' in read && this.#source.pollMs !== undefined
        ? JSON.stringify([read.file.version, read.file.resources])
        : undefined;
    if ('file' in read && polled !== undefined && polled === this.#taken) {
      this.#updates.tellNothingNew(read.file.version, startedMs);
      return;
    }
    const uses = 'file' in read ? this.#deprecatedIn(read.file) : undefined;
    const version = 'file' in read ? read.file.version : '';
    const wrong =
      'why' in read
        ? read.why
        : this.#updates.take(
            read.file.resources.map((message, index) => ({
              ...{ message, version: read.file.versions?.[index] ?? '' },
              faults: read.file.faults?.get(message),
              madeUses: uses?.made.get(message),
            })),
            version,
            startedMs,
            { describe: read.file.describe },
          );
    return after(wrong, (why) => {
      this.#taken = why === undefined ? polled : undefined;
      if (why === undefined) {
        log('debug', `Filesystem config update accepted for ${path}: version '${version}'`);
        return;
      }
      log('warning', `Filesystem config update rejected: ${why}`);
      this.#updates.count('update_rejected');
    });
  }
}
