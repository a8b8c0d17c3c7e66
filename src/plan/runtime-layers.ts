// What a runtime layer must be for its values to be read.
import type { envoy_config_bootstrap_v3_Bootstrap as Bootstrap } from '../../build/messages.gen.js';
import { whyNotWatchable } from '../runtime/disk-layer.js';
import { badKeys } from '../runtime/layer.js';
import type { Place } from './place.js';

export function checkLayerSources(bootstrap: Bootstrap, place: Place): void {
  (bootstrap.layered_runtime?.layers ?? []).forEach((layer, index) => {
    const at = place.index(index);
    for (const key of badKeys(layer.static_layer ?? {})) {
      at.field('static_layer').error(`Invalid runtime entry value for ${key}`, {
        expected: 'a number, a text, true, false, or a share with numerator and denominator',
      });
    }
    const why = layer.disk_layer && whyNotWatchable(layer.disk_layer);
    if (why !== undefined) {
      at.field('disk_layer').field('symlink_root').error(why, {
        expected: 'the path of a link in a folder that exists',
      });
    }
  });
}
