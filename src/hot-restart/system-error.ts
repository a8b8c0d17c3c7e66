// The system's words for an errno.
import { getSystemErrorMap } from 'node:util';

export function getSystemErrorMessage(errno: number): string {
  return getSystemErrorMap().get(-errno)?.[1] ?? `error ${errno}`;
}
