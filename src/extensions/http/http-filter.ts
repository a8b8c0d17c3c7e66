// What an HTTP filter becomes: the router ends the chain and is a member of the connection manager's
// plan, all others are members of a filter's.
import type { HttpFilter, Router } from '../../plan/plan.gen.js';

export type HttpFilterPlan = { readonly router: Router } | Pick<HttpFilter, 'health_check' | 'tap'>;
