// A log that only remembers: "warning config what was said", line by line.
import { COMPONENTS } from '../../../src/logging/components.js';
import { LEVELS } from '../../../src/logging/levels.js';
import type { NativeLog } from '../../../src/native.js';

export class FakeLog implements NativeLog {
  readonly components = COMPONENTS;
  readonly lines: string[] = [];

  write(component: number, level: number, ...rest: [string, number, string, string]): void {
    this.lines.push(`${LEVELS[level] ?? ''} ${COMPONENTS[component] ?? ''} ${rest[3]}`);
  }
  setLevel(): void {}
  setPattern(): void {}
  openFile(): string {
    return '';
  }
  reopen(): void {}
  flush(): boolean {
    return true;
  }
  setFileLevel(): void {}
  setFileRules(): void {}
  fileLevels(): [] {
    return [];
  }
  installCrashHandlers(): void {}
}
