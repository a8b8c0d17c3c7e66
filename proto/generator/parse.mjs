// Reads the subset of proto3 that the plan is written in: messages, nested enums, scalars, repeated,
// optional, oneof, comments. Anything else is an error that names its line.

/** @typedef {{name: string, number: number, comment: string[]}} EnumValue */
/** @typedef {{name: string, values: EnumValue[]}} Enum */
/** @typedef {{name: string, type: string, number: number, repeated: boolean, optional: boolean, comment: string[]}} Field */
/** @typedef {{name: string, comment: string[], enums: Enum[], fields: Field[]}} Message */

const TOKEN = /\s+|\/\/[^\n]*|"[^"]*"|[A-Za-z_][\w.]*|\d+|[{}=;]/y;

function tokenize(text, file) {
  const tokens = [];
  let line = 1;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`${file}:${line}: unexpected "${text[at]}"`);
    const token = match[0];
    if (!/^\s/.test(token)) tokens.push({ text: token, line });
    else if (token.split('\n').length > 2) tokens.push({ text: '', line });
    line += token.split('\n').length - 1;
  }
  return tokens;
}

/** @returns {Message[]} */
export function parseProto(text, file) {
  const tokens = tokenize(text, file);
  let at = 0;
  let comment = [];
  const fail = (token, expected) => {
    throw new Error(`${file}:${token.line}: expected ${expected}, found "${token.text}"`);
  };
  // The next token that is no comment; comments right before it are kept for it.
  const next = () => {
    comment = [];
    for (;;) {
      const token = tokens[at++] ?? { text: 'end of file', line: 0 };
      if (token.text === '') comment = [];
      else if (token.text.startsWith('//')) comment.push(token.text.slice(2).trim());
      else return token;
    }
  };
  const expect = (text) => {
    const token = next();
    if (token.text !== text) fail(token, `"${text}"`);
  };
  const number = () => {
    const token = next();
    if (!/^\d+$/.test(token.text)) fail(token, 'a number');
    return Number(token.text);
  };

  function parseEnum() {
    const result = { name: next().text, values: [] };
    expect('{');
    for (let token = next(); token.text !== '}'; token = next()) {
      const value = { name: token.text, comment, number: 0 };
      expect('=');
      value.number = number();
      expect(';');
      result.values.push(value);
    }
    return result;
  }

  function parseField(first, firstComment, inOneof) {
    const field = { comment: firstComment, repeated: false, optional: inOneof };
    let type = first;
    if (first.text === 'repeated' || first.text === 'optional') {
      field[first.text] = true;
      type = next();
    }
    field.type = type.text;
    field.name = next().text;
    expect('=');
    field.number = number();
    expect(';');
    return field;
  }

  function parseMessage(messageComment) {
    const message = { name: next().text, comment: messageComment, enums: [], fields: [] };
    expect('{');
    for (let token = next(); token.text !== '}'; token = next()) {
      if (token.text === 'enum') {
        message.enums.push(parseEnum());
      } else if (token.text === 'oneof') {
        next();
        expect('{');
        for (let member = next(); member.text !== '}'; member = next()) {
          message.fields.push(parseField(member, comment, true));
        }
      } else {
        message.fields.push(parseField(token, comment, false));
      }
    }
    const numbers = new Set(message.fields.map((field) => field.number));
    if (numbers.size !== message.fields.length) {
      throw new Error(`${file}: message ${message.name} uses a field number twice`);
    }
    return message;
  }

  const messages = [];
  while (at < tokens.length) {
    const token = next();
    if (token.text === 'message') {
      messages.push(parseMessage(comment));
    } else if (token.text === 'syntax' || token.text === 'package' || token.text === 'import') {
      while (next().text !== ';');
    } else if (token.text !== 'end of file') {
      fail(token, '"message"');
    }
  }
  return messages;
}

export const SCALARS = new Set(['bool', 'uint32', 'uint64', 'int64', 'string', 'bytes']);

/** @param {Message} message */
export function isEnum(message, type) {
  return message.enums.some((candidate) => candidate.name === type);
}
