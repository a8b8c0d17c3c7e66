import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Log } from '../../../src/logging/logger.js';
import { readConfiguration, type Configuration } from '../../../src/server/configuration.js';
import { StartError } from '../../../src/server/start-error.js';
import { optionsOf } from './options.js';

export interface Verdict {
  /** Absent where it is refused. */
  readonly accepted?: Pick<Configuration, 'bootstrap' | 'firstUpdate'>;
  /** Errors, or else warnings; the file is left out where a line begins with it, else called `b`. */
  readonly lines: readonly string[];
}

/** A log that keeps its warnings. */
class WarningLog extends Log {
  readonly warnings: string[] = [];

  override warn(_component: unknown, message: string): void {
    this.warnings.push(`warning ${message}`);
  }
}

/** A function that says what the server says of a bootstrap before it starts. */
export function judge(t: TestContext): (text: string | Buffer, format: string) => Verdict {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return (text, format) => {
    const path = join(folder, `b.${format}`);
    writeFileSync(path, text);
    const log = new WarningLog({ level: 'off', pattern: '%v' });
    const clean = (lines: readonly string[]) =>
      lines.map((line) => line.replaceAll(path, 'b').replace(/^b:/, ''));
    try {
      const { bootstrap, firstUpdate } = readConfiguration(optionsOf('--config-path', path), log);
      return { accepted: { bootstrap, firstUpdate }, lines: clean(log.warnings) };
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      return { lines: clean(error.message.split('\n')) };
    }
  };
}
