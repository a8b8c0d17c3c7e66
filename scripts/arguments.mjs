// The few options of the scripts.

/** The word after `--name`, or undefined. */
export function valueOf(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

export function isGiven(name) {
  return process.argv.includes(`--${name}`);
}
