// Secrets with what the files hold that they name: as the real server, which reads them when they come.
import { readFileSync } from 'node:fs';
import { isObject } from '../config/values/objects.js';

/** A file that cannot be read stays named. */
export function withContents<Message extends object>(message: Message): Message {
  const fields = Object.entries(message).map(([field, value]: [string, unknown]) => {
    if (Array.isArray(value)) {
      return [field, value.map((one: unknown) => (isObject(one) ? withContents(one) : one))];
    }
    if (!isObject(value)) return [field, value];
    const path = value['filename'];
    if (typeof path !== 'string') return [field, withContents(value)];
    try {
      return [field, { inline_bytes: readFileSync(path) }];
    } catch {
      return [field, value];
    }
  });
  return Object.fromEntries(fields) as Message;
}
