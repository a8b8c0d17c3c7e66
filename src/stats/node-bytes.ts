// A node (envoy.config.core.v3.Node) in protobuf's wire format.
import type { envoy_config_core_v3_Node as Node } from '../../build/messages.gen.js';
import type { BuildVersion } from '../base/version.js';
import type { ListedExtension } from '../extensions/catalogue.js';
import { WireWriter } from '../base/wire.js';

const INTEGER = 0;
const FIXED64 = 1;
const BYTES = 2;
const tag = (field: number, type: number): number => (field << 3) | type;

/** Who sends statistics: the node of the configuration, this build, and what it has. */
export interface Sender {
  readonly node: Node;
  readonly build: BuildVersion;
  readonly extensions: readonly ListedExtension[];
}

/** StreamMetricsMessage.identifier */
export function identifierBytes(sender: Sender): Uint8Array {
  const out = new WireWriter();
  out.message(tag(1, BYTES), sender, (identifier) =>
    identifier.message(tag(1, BYTES), sender, writeNode),
  );
  return out.finish();
}

/** The node by itself. */
export function nodeBytes(sender: Sender): Uint8Array {
  const out = new WireWriter();
  writeNode(out, sender);
  return out.finish();
}

function writeNode(out: WireWriter, { node, build, extensions }: Sender): void {
  writeText(out, 1, node.id);
  writeText(out, 2, node.cluster);
  if (node.metadata) out.message(tag(3, BYTES), node.metadata, writeStruct);
  if (node.locality) {
    out.message(tag(4, BYTES), node.locality, (inner, locality) => {
      writeText(inner, 1, locality.region);
      writeText(inner, 2, locality.zone);
      writeText(inner, 3, locality.sub_zone);
    });
  }
  writeText(out, 6, 'envoy');
  out.message(tag(8, BYTES), build, (inner, { version, metadata }) => {
    inner.message(tag(1, BYTES), version, (numbers, { major_number, minor_number, patch }) => {
      numbers.number(tag(1, INTEGER), major_number);
      numbers.number(tag(2, INTEGER), minor_number);
      numbers.number(tag(3, INTEGER), patch);
    });
    inner.message(tag(2, BYTES), metadata, writeStruct);
  });
  for (const extension of extensions) out.message(tag(9, BYTES), extension, writeExtension);
}

function writeExtension(out: WireWriter, extension: ListedExtension): void {
  writeText(out, 1, extension.name);
  writeText(out, 2, extension.category);
  if (extension.isDisabled) out.number(tag(5, INTEGER), 1);
  writeText(out, 6, extension.type);
}

function writeText(out: WireWriter, field: number, text: string | undefined): void {
  if (text) out.text(tag(field, BYTES), text);
}

function writeStruct(out: WireWriter, struct: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(struct)) {
    out.message(tag(1, BYTES), value, (entry) => {
      entry.text(tag(1, BYTES), key);
      entry.message(tag(2, BYTES), value, writeValue);
    });
  }
}

/** A google.protobuf.Value. */
function writeValue(out: WireWriter, value: unknown): void {
  if (typeof value === 'number') out.double(tag(2, FIXED64), value);
  else if (typeof value === 'string') out.text(tag(3, BYTES), value);
  else if (typeof value === 'boolean') out.number(tag(4, INTEGER), value ? 1 : 0);
  else if (Array.isArray(value)) {
    out.message(tag(6, BYTES), value, (list, items) => {
      for (const item of items) list.message(tag(1, BYTES), item, writeValue);
    });
  } else if (typeof value === 'object' && value !== null) {
    out.message(tag(5, BYTES), value as Record<string, unknown>, writeStruct);
  } else out.number(tag(1, INTEGER), 0);
}
