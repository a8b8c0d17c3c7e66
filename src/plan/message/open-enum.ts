// Values of enums that no rule closes: a number that has no name is taken, as by the real server.

/** The name, or what the field's default and numbers without a name stand for. */
export const nameOr = <T extends string>(value: T | number | undefined, other: NoInfer<T>): T =>
  typeof value === 'string' ? value : other;
