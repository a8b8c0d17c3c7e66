// Contents that a configuration holds itself, or names: a file, a variable of the environment. Read
// once, when the configuration is compiled.
import { readFileSync, statSync } from 'node:fs';
import type { envoy_config_core_v3_DataSource as DataSource } from '../../../build/messages.gen.js';
import type { Place } from './place.js';
import { refuseOtherFields, supportedFields } from './supported-fields.js';

const DATA_SOURCE = supportedFields<DataSource>('envoy.config.core.v3.DataSource', [
  'filename',
  'inline_bytes',
  'inline_string',
  'environment_variable',
  // As in the real server, nothing but bodies of direct responses looks at it.
  'watched_directory',
]);

/** The bytes; empty when there is no source. Undefined after an error. */
export function readDataSource(
  source: DataSource | undefined,
  place: Place,
): Uint8Array | undefined {
  if (source === undefined) return new Uint8Array();
  refuseOtherFields(place, source, DATA_SOURCE);
  if (source.filename) return readFile(source.filename, place.field('filename'));
  if (source.environment_variable) {
    const value = process.env[source.environment_variable];
    if (value !== undefined) return Buffer.from(value);
    place
      .field('environment_variable')
      .error(`Environment variable doesn't exist: ${source.environment_variable}`);
    return undefined;
  }
  return source.inline_bytes ?? Buffer.from(source.inline_string ?? '');
}

/** The folder with whose changes the file of `source` is to be read again. */
export function watchedFolder(source: DataSource | undefined, place: Place): string | undefined {
  const folder = source?.filename ? source.watched_directory?.path : undefined;
  if (folder === undefined || statSync(folder, { throwIfNoEntry: false })) return folder;
  place
    .field('watched_directory')
    .field('path')
    .error(`unable to add filesystem watch for file ${folder}/: No such file or directory`);
  return undefined;
}

/** The same as text. */
export function readTextSource(source: DataSource | undefined, place: Place): string | undefined {
  const bytes = readDataSource(source, place);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

/** Undefined after an error. */
export function readFile(path: string, place: Place): Uint8Array | undefined {
  if (!statSync(path, { throwIfNoEntry: false })) {
    place.error(`file ${path} does not exist`);
    return undefined;
  }
  try {
    return readFileSync(path);
  } catch (error) {
    place.error(
      `unable to read file: ${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}
