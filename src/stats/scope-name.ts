// Names of the configuration inside the names of statistics.

/** As native/stats/scopes.cc writes it: a colon, with what makes it "://", is an underscore. */
export function labelText(name: string): string {
  return name.replaceAll('\0', '_').replace(/:(?:\/\/|\/)?/g, '_');
}
