// Caches of names, as those who name them see them.
import type { envoy_extensions_common_dynamic_forward_proxy_v3_DnsCacheConfig as CacheMessage } from '../../build/messages.gen.js';
import type { Place } from './message/place.js';

export interface SharedNames {
  /** The name by which the plan knows the cache; undefined after an error. */
  add(message: CacheMessage, place: Place): string | undefined;
}
