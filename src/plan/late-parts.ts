// What a filter that came later has brought along: places for others that come later, routes, and secrets.
import { LaterPlaces, type DiscoveredSource } from './discovered.js';
import type { CompileContext } from './extension.js';
import { HeldSecrets } from './live-sources.js';
import type { Update } from './plan.gen.js';
import type { ChainRoutes } from './route-slots.js';

export class LateParts {
  readonly routes: ChainRoutes;
  readonly places: LaterPlaces;
  readonly secrets: HeldSecrets;

  constructor(context: CompileContext) {
    this.routes = context.routes.later();
    this.places = new LaterPlaces(context.discovered);
    this.secrets = new HeldSecrets(context.live);
  }

  /** What is compiled with it leaves its parts here. */
  get context(): Pick<CompileContext, 'routes' | 'discovered' | 'holdLive'> {
    return { routes: this.routes, discovered: this.places, holdLive: this.secrets.hold };
  }

  /** It is not used after all. */
  drop(): void {
    this.secrets.release();
    this.routes.release();
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
    before?.secrets.release();
    const left_route_tables = before?.routes.leave() ?? [];
    const [come, gone] = [next?.places.all ?? [], before?.places.all ?? []];
    const isSame = come.length === 0 && gone.length === 0 && left_route_tables.length === 0;
    if (!isSame || next?.routes.hasRequests) source.onNested(come, gone);
    return left_route_tables.length > 0 ? { left_route_tables } : {};
  }
}
