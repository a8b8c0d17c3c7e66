// What certificates are called that have no name.
import { crypto } from '../../base/late-modules.js';
import type { envoy_config_core_v3_DataSource as DataSource } from '../../../build/messages.gen.js';

/** Of the SHA-256 of nothing. */
const OF_NOTHING = 'e3b0c442';
const SHOWN = 8;

/** As the real server: by the hash of inline bytes, which most have none of. */
export function unnamed(kind: 'ca_cert' | 'cert', source: DataSource | undefined): string {
  const bytes = source?.inline_bytes;
  const hash = bytes
    ? crypto().createHash('sha256').update(bytes).digest('hex').slice(0, SHOWN)
    : OF_NOTHING;
  return `unnamed_${kind}_${hash}`;
}
