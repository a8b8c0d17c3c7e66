// What an HTTP filter becomes: a member of the connection manager's plan.
import type { HttpConnectionManager } from '../../plan/plan.gen.js';

/** The router ends a chain; nothing else does so far. */
export interface HttpFilterPlan {
  readonly plan: Pick<HttpConnectionManager, 'router'>;
  readonly isTerminal: boolean;
}
