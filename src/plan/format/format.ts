// Substitution formats ("%REQ(:PATH)% took %DURATION% ms"): text and operators as a list of pieces.
import { NOT_YET, OPERATORS, type Compiled, type FormatUse } from './format-operators.js';
import { nearestName } from '../../base/suggest.js';
import { FormatPiece_Operator as Operator, type Format, type FormatPiece } from '../plan.gen.js';

export type { FormatUse } from './format-operators.js';

/** What is wrong, in the real server's words where it has some. */
export interface FormatError {
  readonly error: string;
  readonly suggestion?: string;
}
export type FormatResult = { readonly format: Format } | FormatError;

/** Gives values to operators that the place of the format knows ("METADATA(ROUTE:a:b)"). */
export type OwnOperators = (name: string, argument: string) => Compiled | undefined;

const COMMAND = /%([A-Z0-9_]+)(?:\(([^]*?)\))?(?::([0-9]+))?%/y;

/** Compiles a format. `own` is asked first. */
export function compileFormat(text: string, use: FormatUse, own?: OwnOperators): FormatResult {
  const pieces: FormatPiece[] = [];
  let literal = '';
  const endLiteral = (): void => {
    if (literal !== '') pieces.push({ operator: Operator.LITERAL, argument: literal });
    literal = '';
  };
  for (let at = 0; at < text.length;) {
    const percent = text.indexOf('%', at);
    if (percent < 0) {
      literal += text.slice(at);
      break;
    }
    literal += text.slice(at, percent);
    if (text[percent + 1] === '%') {
      literal += '%';
      at = percent + 2;
      continue;
    }
    COMMAND.lastIndex = percent;
    const match = COMMAND.exec(text);
    if (!match) {
      return {
        error: `Incorrect configuration: ${text}. Couldn't find valid command at position ${percent}`,
        suggestion: '%%',
      };
    }
    const [whole, name = '', argument = '', length] = match;
    const piece = own?.(name, argument) ?? compileCommand(name, argument, length, use);
    if ('error' in piece) return piece;
    // Text that is known already joins what stands around it.
    if ((piece.operator ?? Operator.LITERAL) === Operator.LITERAL) {
      literal += piece.argument ?? '';
    } else {
      endLiteral();
      pieces.push(piece);
    }
    at = percent + whole.length;
  }
  endLiteral();
  return { format: { pieces } };
}

function compileCommand(
  name: string,
  argument: string,
  lengthText: string | undefined,
  use: FormatUse,
): FormatPiece | FormatError {
  const rule = OPERATORS.get(name);
  if (!rule) {
    if (NOT_YET.has(name)) return { error: `the operator %${name}% is not supported yet` };
    const suggestion = nearestName(name, OPERATORS.keys());
    return {
      error: `Not supported field in StreamInfo: ${name}`,
      ...(suggestion && { suggestion }),
    };
  }
  const length = lengthText === undefined ? undefined : Number(lengthText);
  if (rule.argument === 'none' && (argument !== '' || length !== undefined)) {
    return { error: `${name} does not take any parameters or length` };
  }
  if (rule.argument === 'required' && argument === '')
    return { error: `${name} requires parameters` };
  if (!rule.lengthAllowed && length !== undefined) {
    return { error: `${name} does not allow length to be specified.` };
  }
  if (length === 0) return { error: `${name} cut to no length at all is not supported yet` };
  return rule.compile({ name, argument, length, use });
}
