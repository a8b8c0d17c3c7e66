import type { Page } from '../../native-stats.js';

/** A page that is opened when its first piece is asked for: until then it holds nothing. */
export function lazyPage(open: () => Page): Page {
  let page: Page | undefined;
  return {
    next: () => {
      page ??= open();
      return page.next();
    },
  };
}
