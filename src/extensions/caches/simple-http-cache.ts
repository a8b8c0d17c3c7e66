// envoy.extensions.http.cache.simple: in memory, one for the process.
import type { envoy_extensions_http_cache_simple_http_cache_v3_SimpleHttpCacheConfig as Message } from '../../../build/messages.gen.js';
import { defineExtension } from '../../plan/extension.js';
import type { CacheStore } from '../../plan/extension-plans.js';

export const simpleHttpCache = defineExtension<Message, CacheStore | undefined>({
  name: 'envoy.extensions.http.cache.simple',
  type: 'envoy.extensions.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig',
  compile: () => ({ memory: {} }),
});
