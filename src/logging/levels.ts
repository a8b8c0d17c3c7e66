// Log levels in order of severity, and the names that select them.

export const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'] as const;
export type Level = (typeof LEVELS)[number];

/** The level of exactly this name. */
export function findLevel(name: string): Level | undefined {
  return LEVELS.find((level) => level === name);
}

/** The level of a name as the command line takes it: "warn" means warning. */
export function parseLevel(name: string): Level | undefined {
  return findLevel(name === 'warn' ? 'warning' : name);
}

export function isAtLeast(level: Level, threshold: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(threshold);
}
