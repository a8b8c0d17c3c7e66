// What the data plane has refused of an update: the rest took effect.
import type { ApplyError } from '../native.js';

/** Whether what has this name is refused: an update that cannot be read, or comes too late, is whole. */
export function refusedBy(errors: readonly ApplyError[]): (name: string) => boolean {
  const names = new Set(errors.map(({ name }) => name));
  const isWhole = errors.some(({ kind }) => kind === 'plan');
  return (name) => isWhole || names.has(name);
}
