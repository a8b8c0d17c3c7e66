// The model as src/config/schema/schema-table.ts reads it: a line of JSON that says what is in the file and
// how long each row is, then the rows, a line for each enum and each message. A reader parses the rows
// that it needs. All is ASCII.

// Bits of a field's flags; src/config/schema/schema.ts has the same.
const FLAGS = { repeated: 1, map: 2, presence: 4, sensitive: 8, hidden: 16, disallowed: 32 };

/** @param {import('./model.mjs').Model} model */
export function writeTable(model, stamp) {
  const messageIndex = new Map([...model.messages.keys()].map((name, index) => [name, index]));
  const enumIndex = new Map([...model.enums.keys()].map((name, index) => [name, index]));
  const files = [...new Set([...model.messages.values()].map((message) => message.file))].sort();
  const fileIndex = new Map(files.map((file, index) => [file, index]));

  const fieldRow = (field, message) => {
    const type = messageIndex.get(field.type) ?? ~(enumIndex.get(field.type) ?? -1);
    const row = [field.name, field.number, type === ~-1 && isScalar(field) ? field.type : type];
    const extra = extraOf(field, message);
    const flags = flagsOf(field);
    if (flags || extra) row.push(flags);
    if (extra) row.push(extra);
    return row;
  };
  const isScalar = (field) => !messageIndex.has(field.type) && !enumIndex.has(field.type);
  const messageRow = (message) => {
    const row = [
      message.name,
      fileIndex.get(message.file),
      message.fields.map((f) => fieldRow(f, message)),
    ];
    const oneofs = message.oneofs.map(({ name, required }) => (required ? [name, 1] : [name]));
    if (oneofs.length > 0 || message.previous) row.push(oneofs);
    if (message.previous) row.push(message.previous);
    return row;
  };
  const names = [...model.messages.keys()];
  const enumLines = [...model.enums.values()].map((one) => asciiLine(enumRow(one)));
  const messageLines = [...model.messages.values()].map((one) => asciiLine(messageRow(one)));
  const lengths = (lines) => lines.map(({ length }) => length);
  const head = { stamp, files, names, enums: lengths(enumLines), messages: lengths(messageLines) };
  return [asciiLine(head), ...enumLines, ...messageLines].join('');
}

function asciiLine(value) {
  return `${JSON.stringify(value)}\n`.replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function flagsOf(field) {
  let flags = 0;
  if (field.repeated) flags |= FLAGS.repeated;
  if (field.key) flags |= FLAGS.map;
  if (field.presence && !field.repeated && !field.key) flags |= FLAGS.presence;
  if (field.sensitive) flags |= FLAGS.sensitive;
  if (field.hidden) flags |= FLAGS.hidden;
  if (field.disallowed) flags |= FLAGS.disallowed;
  return flags;
}

function extraOf(field, message) {
  const extra = {};
  if (field.key) extra.key = field.key;
  if (field.oneof) extra.oneof = message.oneofs.findIndex(({ name }) => name === field.oneof);
  if (field.rules) extra.rules = field.rules;
  if (field.deprecated !== undefined) extra.deprecated = field.deprecated;
  return Object.keys(extra).length > 0 ? extra : undefined;
}

/** Values are a list of names where the numbers count from 0, else a list of [name, number]. */
function enumRow({ name, values }) {
  const counted = values.every((value, index) => value.number === index);
  const row = [name, values.map((value) => (counted ? value.name : [value.name, value.number]))];
  const notes = {};
  for (const value of values) {
    if (value.disallowed) notes[value.name] = 'disallowed';
    else if (value.deprecated !== undefined) notes[value.name] = 'deprecated';
  }
  if (Object.keys(notes).length > 0) row.push(notes);
  return row;
}
