// Patterns of log lines, in spdlog's language; native/log/pattern compiles them.

export const DEFAULT_PATTERN = '[%Y-%m-%d %T.%e][%t][%l][%n] [%g:%#] %v';

/** What the default becomes when loggers are source files, which it shows already. */
export const FINE_GRAIN_PATTERN = DEFAULT_PATTERN.replace('[%n]', '');
