// The restarter's own lines, on stderr beside those of its processes, which look alike. It does without
// their native log, as it does without all that is not needed to wait.
import { writeSync } from 'node:fs';

export type LogLevel = 'info' | 'warning' | 'error';
export type WriteLog = (level: LogLevel, message: string) => void;

const STDERR = 2;

export function logToStderr(level: LogLevel, message: string): void {
  const time = new Date().toISOString().replace('T', ' ').replace('Z', '');
  try {
    writeSync(STDERR, `[${time}][${process.pid}][${level}][restarter] ${message}\n`);
  } catch {
    // Nobody is left to tell.
  }
}
