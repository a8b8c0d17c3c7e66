// What a filter that came later has brought along: places for others that come later, and routes.
import { LaterPlaces, type DiscoveredSource } from './discovered.js';
import type { CompileContext } from './extension.js';
import type { Update } from './plan.gen.js';
import type { ChainRoutes } from './route-slots.js';

export class LateParts {
  readonly routes: ChainRoutes;
  readonly places: LaterPlaces;

  constructor(context: CompileContext) {
    this.routes = context.routes.later();
    this.places = new LaterPlaces(context.discovered);
  }

  /** What is compiled with it leaves its parts here. */
  get context(): Pick<CompileContext, 'routes' | 'discovered'> {
    return { routes: this.routes, discovered: this.places };
  }

  /**
   * One has taken the other's place. Tables of the other go with the last connection whose manager
   * names them.
   */
  static change(
    source: DiscoveredSource,
    before: LateParts | undefined,
    next: LateParts | undefined,
  ): Update {
    const left_route_tables = before?.routes.leave() ?? [];
    const [come, gone] = [next?.places.all ?? [], before?.places.all ?? []];
    const isSame = come.length === 0 && gone.length === 0 && left_route_tables.length === 0;
    if (!isSame || next?.routes.hasRequests) source.onNested(come, gone);
    return left_route_tables.length > 0 ? { left_route_tables } : {};
  }
}
