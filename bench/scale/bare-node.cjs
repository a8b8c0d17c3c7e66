// What any program on Node begins with: says that it runs, and waits to be ended.
require('node:fs').writeSync(1, '.');
setInterval(() => undefined, 1000);
