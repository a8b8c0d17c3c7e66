// Log levels in order of severity, and the names that select them.

export const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'] as const;
export type Level = (typeof LEVELS)[number];

/** The level of a name ("warn" too), or undefined. */
export function parseLevel(name: string): Level | undefined {
  if (name === 'warn') return 'warning';
  return LEVELS.find((level) => level === name);
}

export function isAtLeast(level: Level, threshold: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(threshold);
}
