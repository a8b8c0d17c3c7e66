// The contract of an extension: one configuration message, compiled to its part of the plan.
import type { Any } from '../../build/messages.gen.js';
import type { CompileContext } from '../plan/context.js';
import { nearestName } from '../base/suggest.js';
import type { Place } from '../plan/message/place.js';

export interface Extension<Compiled> {
  /** The name it has in the real server: "envoy.filters.network.tcp_proxy". */
  readonly name: string;
  /** Its message's full name; this is what it is found by. */
  readonly type: string;
  /** By --disable-extensions: no configuration may use it. */
  readonly isDisabled?: boolean;
  /** What is wrong goes to `place`; the result is only used when nothing is. */
  readonly compile: (config: Any, place: Place, context: CompileContext) => Compiled;
}

/** Declares an extension whose message is a `Config`: the type name vouches for it. */
export function defineExtension<Config extends object, Compiled>(extension: {
  readonly name: string;
  readonly type: string;
  readonly compile: (config: Config, place: Place, context: CompileContext) => Compiled;
}): Extension<Compiled> {
  const { name, type, compile } = extension;
  return {
    name,
    type,
    compile: (config, place, context) =>
      compile(config as unknown as Config, place.within(type), context),
  };
}

/** An extension as configurations name it. */
export interface Named {
  readonly name?: string | undefined;
  readonly typed_config?: Any | undefined;
}

/** The extension that `config` asks for; otherwise an error at its place, and undefined. */
export function findExtension<Compiled>(
  candidates: readonly Extension<Compiled>[],
  config: Named,
  place: Place,
): Extension<Compiled> | undefined {
  const name = config.name ?? '';
  if (!config.typed_config?.$type) {
    const byName = candidates.find((candidate) => candidate.name === name);
    place.error(`Didn't find a registered implementation for '${name}' with type URL: ''`, {
      expected: `typed_config with "@type": ${byName ? typeUrl(byName.type) : 'and a type URL'}`,
      suggestion: byName
        ? undefined
        : nearestName(
            name,
            candidates.map((candidate) => candidate.name),
          ),
    });
    return undefined;
  }
  const type = config.typed_config.$type;
  const found = candidates.find((candidate) => candidate.type === type);
  if (found?.isDisabled) {
    place
      .field('typed_config')
      .error(
        `Didn't find a registered implementation for '${name}' with type URL: '${type}': --disable-extensions disables it`,
      );
    return undefined;
  }
  if (found) return found;
  const isOtherKind = candidates.every((candidate) => kindOf(candidate.type) !== kindOf(type));
  place
    .field('typed_config')
    .error(
      isOtherKind && kindOf(type) !== undefined
        ? `Didn't find a registered implementation for '${name}' with type URL: '${type}'`
        : `the extension '${name}' (${type}) is not supported yet`,
      { expected: `one of ${candidates.map((candidate) => candidate.type).join(', ')}` },
    );
  return undefined;
}

/** "filters.http" of "envoy.extensions.filters.http.router.v3.Router"; a wrapper may be of any kind. */
function kindOf(type: string): string | undefined {
  if (type === 'envoy.extensions.common.matching.v3.ExtensionWithMatcher') return undefined;
  return /^envoy\.extensions\.(filters\.\w+|\w+)\./.exec(type)?.[1];
}

function typeUrl(type: string): string {
  return `type.googleapis.com/${type}`;
}
