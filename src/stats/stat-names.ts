// Names of scopes that are made of what a configuration says.

/** As the real server: "://", ":/" and ":" would not be read by those who get statistics. */
export const scopeText = (text: string): string => text.replaceAll(/:\/{0,2}|\0/g, '_');
