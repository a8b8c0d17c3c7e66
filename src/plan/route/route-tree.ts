// The routes of a virtual host as a tree of matchers, whose actions are a route or a list of them.
import type {
  envoy_config_route_v3_Route as RouteMessage,
  envoy_config_route_v3_RouteList as RouteListMessage,
  xds_type_matcher_v3_Matcher as MatcherMessage,
} from '../../../build/messages.gen.js';
import { unregistered } from '../known-extensions.js';
import { compileHttpTree, HTTP_INPUTS, REQUEST_HEADER } from '../match/http-tree.js';
import type { Place } from '../message/place.js';
import type { Route, RouteList, RouteTree } from '../plan.gen.js';
import type { RouteScope } from './route-scope.js';
import { compileRoute } from './route.js';

const ROUTE = 'envoy.config.route.v3.Route';
const ROUTE_LIST = 'envoy.config.route.v3.RouteList';

/** Others are known, and refused in the real server's words. */
const INPUTS = new Map(
  [...HTTP_INPUTS].map(([type, compile]): [string, typeof compile] => [
    type,
    type === REQUEST_HEADER
      ? compile
      : (_config, place) => {
          place.error(
            `requirement violation while creating route match tree: INVALID_ARGUMENT: Route table can only match on request headers, saw type.googleapis.com/${type}`,
            { expected: REQUEST_HEADER },
          );
          return undefined;
        },
  ]),
);

/** What is wrong goes to `place`; the result is only used when nothing is. */
export function compileRouteTree(
  message: MatcherMessage,
  place: Place,
  scope: RouteScope,
): RouteTree {
  const lists: RouteList[] = [];
  const compile = (route: RouteMessage, at: Place): readonly Route[] => {
    const compiled = compileRoute(route, at, scope);
    return compiled ? [compiled] : [];
  };
  const tree = compileHttpTree(
    message,
    place,
    scope.context.runtime,
    (config, name, at) => {
      if (config.$type === ROUTE) {
        return lists.push({ routes: compile(config as RouteMessage, at.within(ROUTE)) }) - 1;
      }
      if (config.$type === ROUTE_LIST) {
        const list = at.within(ROUTE_LIST).field('routes');
        const { routes = [] } = config as RouteListMessage;
        return lists.push({ routes: routes.flatMap((one, i) => compile(one, list.index(i))) }) - 1;
      }
      at.error(unregistered(name, config.$type), { expected: `${ROUTE} or ${ROUTE_LIST}` });
      return undefined;
    },
    INPUTS,
  );
  return { tree, lists };
}
