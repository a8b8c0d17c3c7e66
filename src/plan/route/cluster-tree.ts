// Routes whose cluster a tree of matchers says (envoy.router.cluster_specifier_plugin.matcher).
import type {
  envoy_config_route_v3_ClusterSpecifierPlugin as ClusterSpecifierPlugin,
  envoy_extensions_router_cluster_specifiers_matcher_v3_ClusterAction as ClusterChoice,
  envoy_extensions_router_cluster_specifiers_matcher_v3_MatcherClusterSpecifier as MatcherSpecifier,
} from '../../../build/messages.gen.js';
import type { CompileContext } from '../extension.js';
import { unregistered } from '../known-extensions.js';
import { compileHttpTree } from '../match/http-tree.js';
import type { Place } from '../message/place.js';
import { refuseOtherFields, supportedFields } from '../message/supported-fields.js';
import type { ClusterAction } from '../plan.gen.js';

const PACKAGE = 'envoy.extensions.router.cluster_specifiers.matcher.v3';
const PLUGIN = supportedFields<ClusterSpecifierPlugin>(
  'envoy.config.route.v3.ClusterSpecifierPlugin',
  ['extension', 'is_optional'],
);
const SPECIFIER = supportedFields<MatcherSpecifier>(`${PACKAGE}.MatcherClusterSpecifier`, [
  'cluster_matcher',
]);
const CHOICE = supportedFields<ClusterChoice>(`${PACKAGE}.ClusterAction`, ['cluster']);

/** What a tree makes of a route's action. */
export type ClusterTree = Pick<ClusterAction, 'cluster_tree' | 'tree_clusters'>;

/** By name; undefined: after an error. */
export function compileClusterTrees(
  plugins: readonly ClusterSpecifierPlugin[] | undefined,
  place: Place,
  context: CompileContext,
): ReadonlyMap<string, ClusterTree | undefined> {
  const trees = new Map<string, ClusterTree | undefined>();
  (plugins ?? []).forEach((plugin, index) => {
    const tree = compileClusterTree(plugin, place.index(index), context);
    const name = plugin.extension?.name ?? '';
    // Of several with one name the first counts.
    if (!trees.has(name)) trees.set(name, tree);
  });
  return trees;
}

/** Undefined after an error. */
export function compileClusterTree(
  plugin: ClusterSpecifierPlugin,
  place: Place,
  context: CompileContext,
): ClusterTree | undefined {
  refuseOtherFields(place, plugin, PLUGIN);
  const { name = '', typed_config: config } = plugin.extension ?? {};
  const at = place.field('extension').field('typed_config');
  if (config?.$type !== SPECIFIER.type) {
    at.error(`the cluster specifier '${name}' (${config?.$type ?? ''}) is not supported yet`, {
      expected: SPECIFIER.type,
    });
    return undefined;
  }
  refuseOtherFields(at, config, SPECIFIER);
  const clusters: string[] = [];
  const tree = compileHttpTree(
    (config as MatcherSpecifier).cluster_matcher ?? {},
    at.field('cluster_matcher'),
    context.runtime,
    (action, actionName, where) => {
      if (action.$type !== CHOICE.type) {
        where.error(unregistered(actionName, action.$type ?? ''), { expected: CHOICE.type });
        return undefined;
      }
      refuseOtherFields(where, action, CHOICE);
      return clusters.push((action as ClusterChoice).cluster ?? '') - 1;
    },
  );
  return { cluster_tree: tree, tree_clusters: clusters };
}
