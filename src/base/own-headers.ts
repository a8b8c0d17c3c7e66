// Names of the proxy's own headers: "x-envoy-…", or as the bootstrap's header_prefix has them, for the
// whole process.
let prefix = 'x-envoy';

/** Before anything that has such names is made. Empty: as they are. */
export function setHeaderPrefix(wanted: string): void {
  prefix = wanted === '' ? 'x-envoy' : wanted;
}

export const ownHeader = (rest: string): string => `${prefix}-${rest}`;
