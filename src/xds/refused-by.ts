// What the data plane has refused of an update: the rest took effect.
import type { ApplyError } from '../native.js';

/**
 * Whether what is of this kind and has this name is refused: an update that cannot be read, or comes too late,
 * is whole. A cluster whose hosts are refused is in force.
 */
export function refusedBy(
  errors: readonly ApplyError[],
  kind: 'cluster' | 'route_table',
): (name: string) => boolean {
  const names = new Set(errors.flatMap((error) => (error.kind === kind ? error.name : [])));
  const isWhole = errors.some((error) => error.kind === 'plan');
  return (name) => isWhole || names.has(name);
}
