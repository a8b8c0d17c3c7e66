// What a runtime layer must be for its values to be read.
import type {
  envoy_config_bootstrap_v3_Bootstrap as Bootstrap,
  envoy_config_bootstrap_v3_RuntimeLayer as RuntimeLayer,
  envoy_config_bootstrap_v3_RuntimeLayer_DiskLayer as DiskLayer,
} from '../../../build/messages.gen.js';
import { hasFolder } from '../../base/is-folder.js';
import { isObject, type PlainObject } from '../../config/values/objects.js';
import type { Place } from '../message/place.js';

/** Names must differ, and one admin layer is enough. */
export function checkLayers(bootstrap: Bootstrap, place: Place): void {
  const names = new Map<string, number>();
  let admin: number | undefined;
  (bootstrap.layered_runtime?.layers ?? []).forEach((layer, index) => {
    const at = place.index(index);
    const name = layer.name ?? '';
    const first = names.get(name);
    if (first === undefined) {
      names.set(name, index);
    } else {
      const related = place.index(first).field('name');
      at.field('name').error(`Duplicate layer name: ${name}`, { related });
    }
    if (layer.admin_layer !== undefined && admin !== undefined) {
      at.field('admin_layer').error('Too many admin layers specified in LayeredRuntime', {
        expected: 'one at most',
        related: place.index(admin).field('admin_layer'),
      });
    }
    if (layer.admin_layer !== undefined) admin ??= index;
    checkLayerSource(layer, at);
  });
}

function checkLayerSource(layer: RuntimeLayer, at: Place): void {
  checkValues(layer.static_layer ?? {}, at.field('static_layer'));
  const why = layer.disk_layer && whyNotWatchable(layer.disk_layer);
  if (why !== undefined) {
    at.field('disk_layer').field('symlink_root').error(why, {
      expected: 'the path of a link in a folder that exists',
    });
  }
}

/** Why a layer on disk can never be read; undefined: it can, as soon as its folder is there. */
export function whyNotWatchable({ symlink_root: root = '' }: DiskLayer): string | undefined {
  if (!root.includes('/')) return `invalid file path ${root}`;
  if (hasFolder(root)) return undefined;
  return `unable to add filesystem watch for file ${root}: No such file or directory`;
}

/** A runtime value is one value, or more of them by name. */
export function checkValues(struct: PlainObject, place: Place): void {
  for (const [name, value] of Object.entries(struct)) {
    if (value === null || Array.isArray(value)) {
      place.key(name).error(`Invalid runtime entry value for ${name}`, {
        expected: 'a number, a string, true or false, or a mapping of them',
      });
    } else if (isObject(value)) {
      checkValues(value, place.key(name));
    }
  }
}
