// What the kernel says of the cgroup that this process is in, version 2 or 1, as a container sees it: the
// group is the root of its file system of cgroups.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A limit of version 1 that is none: the largest multiple of a page. */
const NO_LIMIT_BYTES = 0x7fff_ffff_ffff_f000;

export interface CgroupMemory {
  usedBytes(): number;
  /** Infinity: there is no limit. */
  limitBytes(): number;
}

export interface CgroupCpu {
  /** Of all processors together, since the group began. */
  usedMs(): number;
  /** How many processors the group may use; undefined: as many as there are. */
  processors(): number | undefined;
  /** Whether it may use more than these while others use less. */
  readonly mayUseMore: boolean;
}

export class CgroupFiles {
  readonly #root: string;

  constructor(root = '/') {
    this.#root = join(root, 'sys/fs/cgroup');
  }

  /** Undefined: there is none. */
  memory(): CgroupMemory | undefined {
    if (this.#has('memory.current') && this.#has('memory.max')) {
      return {
        usedBytes: () => this.#number('memory.current'),
        limitBytes: () => limitOf(this.#text('memory.max')),
      };
    }
    const [used, limit] = ['memory/memory.usage_in_bytes', 'memory/memory.limit_in_bytes'];
    if (!this.#has(used) || !this.#has(limit)) return undefined;
    return {
      usedBytes: () => this.#number(used),
      limitBytes: () => limitOf(this.#text(limit)),
    };
  }

  /** Undefined: there is none. */
  cpu(): CgroupCpu | undefined {
    if (this.#has('cpu.stat') && this.#has('cpu.max')) {
      return {
        usedMs: () => Number(/^usage_usec (\d+)/m.exec(this.#text('cpu.stat'))?.[1]) / 1000,
        processors: () => {
          const [quota = '', period = ''] = this.#text('cpu.max').split(' ');
          return quota === 'max' ? undefined : Number(quota) / Number(period);
        },
        mayUseMore: false,
      };
    }
    const [shares, used] = ['cpu/cpu.shares', 'cpuacct/cpuacct.usage'];
    if (!this.#has(shares) || !this.#has(used)) return undefined;
    return {
      usedMs: () => this.#number(used) / 1e6,
      // 1024 shares are what one processor's worth of requests gets.
      processors: () => this.#number(shares) / 1024,
      mayUseMore: true,
    };
  }

  #has(name: string): boolean {
    return existsSync(join(this.#root, name));
  }

  #text(name: string): string {
    return readFileSync(join(this.#root, name), 'utf8').trim();
  }

  #number(name: string): number {
    const text = this.#text(name);
    const value = Number(text);
    if (text === '' || Number.isNaN(value)) throw new Error(`${name} is no number: '${text}'`);
    return value;
  }
}

function limitOf(text: string): number {
  const bytes = text === 'max' ? Infinity : Number(text);
  return bytes >= NO_LIMIT_BYTES ? Infinity : bytes;
}
