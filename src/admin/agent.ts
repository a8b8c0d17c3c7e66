// What a node says of the program that it runs.
import type { Options } from '../options/parse.js';
import { disableExtensions, listExtensions } from '../extensions/catalogue.js';
import { REGISTRY } from '../extensions/registry.js';

export const USER_AGENT = 'fairlead';

/** The extensions that this build has, as a node lists them. */
export function extensionsJson({ disabledExtensions }: Options): readonly object[] {
  const { registry } = disableExtensions(REGISTRY, disabledExtensions);
  return listExtensions(registry).map(({ name, category, type, isDisabled }) => ({
    name,
    category,
    type_descriptor: '',
    disabled: isDisabled,
    type_urls: [type],
  }));
}
