import type { CompileContext } from '../extension.js';
import type { FilterToggles } from './filter-toggles.js';

/** What the routes of one table have in common. */
export interface RouteScope {
  readonly context: CompileContext;
  readonly validatesClusters: boolean;
  /** The longest body of a direct response. */
  readonly maxBodyBytes: number;
  readonly filterNames: readonly string[];
  /** The table's, then the virtual host's. */
  readonly filterToggles: readonly FilterToggles[];
}
