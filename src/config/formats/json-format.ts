// JSON, strictly. Positions are made only when something is wrong, by reading the text again as YAML,
// of which JSON is a part.
import type { ReadResult } from './document.js';
import { readYaml } from './yaml-format.js';

export function readJson(text: string, file: string): ReadResult {
  try {
    const value: unknown = JSON.parse(text);
    let again: ReadResult | undefined;
    return {
      document: {
        value,
        locate: (path) => {
          again ??= readYaml(text, file);
          return 'document' in again ? again.document.locate(path) : undefined;
        },
      },
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: { message: message.replace(/ in JSON at position \d+.*$/s, ''), position: positionOf(message, text, file) } };
  }
}

/** Node says the offset in its message, or that the text ended. */
function positionOf(message: string, text: string, file: string): { file: string; line: number; column: number } {
  const match = /at position (\d+)/.exec(message);
  const before = text.slice(0, match ? Number(match[1]) : text.length).split('\n');
  return { file, line: before.length, column: before.at(-1)!.length + 1 };
}
