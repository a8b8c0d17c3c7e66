// Makes a transport socket, and says how it is made again where its secrets come later.
import type { CompileContext } from '../extension.js';
import type { Place } from '../message/place.js';
import { SecretFinder } from '../secret-finder.js';
import type { TlsSocketPlan } from '../tls-socket.js';

export type BuildSocket<Plan extends TlsSocketPlan> = (
  secrets: SecretFinder,
  place: Place,
) => Plan | undefined;

let latestId = 0;

/** Undefined after an error. */
export function makeSocket<Plan extends TlsSocketPlan>(
  build: BuildSocket<Plan>,
  place: Place,
  context: CompileContext,
): Plan | undefined {
  const secrets = new SecretFinder(context);
  const plan = build(secrets, place);
  if (!plan || secrets.requests.length === 0) return plan;
  latestId += 1;
  const id = latestId;
  return {
    ...plan,
    context: { ...plan.context, id, is_incomplete: secrets.isPending },
    recipe: {
      requests: secrets.requests,
      make: (lookup, at) => {
        const found = new SecretFinder(context, lookup);
        const again = build(found, at);
        return (
          again && { ...again, context: { ...again.context, id, is_incomplete: found.isPending } }
        );
      },
    },
  };
}
