// What ps(1), top(1) and pgrep(1) call the process: by its own name and arguments, where they would say
// node and the path of a script.
import { writeFileSync } from 'node:fs';

export function nameProcess(name: string, words: readonly string[]): void {
  process.title = [name, ...words].join(' ');
  try {
    // The title's first 15 bytes, arguments and all, unless it is said.
    writeFileSync('/proc/self/comm', name);
  } catch {
    // Without /proc that is what it is called.
  }
}
