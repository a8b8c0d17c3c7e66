// Searches names of statistics on the server, and the configuration, once read, in the page.
import { readConfig, searchStats } from './admin.js';
import { byId, element, row } from './elements.js';
import { whole } from './numbers.js';

const ROWS = 200;

const form = byId<HTMLFormElement>('search');
const text = byId<HTMLInputElement>('search-text');
const count = byId('search-count');

export function listenForSearches(): void {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void search();
  });
}

async function search(): Promise<void> {
  const where = new FormData(form).get('where');
  count.textContent = 'searching…';
  try {
    const found = where === 'config' ? await findInConfig(text.value) : await findStats(text.value);
    const rows = found.slice(0, ROWS).map(([name, value]) => row([name, element('b', value)]));
    byId('found')
      .querySelector('tbody')!
      .replaceChildren(...rows);
    const shown = found.length > ROWS ? `, the first ${ROWS} shown` : '';
    count.textContent = `${whole(found.length)} found${shown}`;
  } catch (error) {
    count.textContent = (error as Error).message;
  }
}

type Found = readonly [name: string, value: string];

async function findStats(pattern: string): Promise<readonly Found[]> {
  const lines = await searchStats(pattern);
  return lines.map((line) => {
    const end = line.indexOf(': ');
    return [line.slice(0, end), line.slice(end + 2)];
  });
}

async function findInConfig(pattern: string): Promise<readonly Found[]> {
  const expression = new RegExp(pattern, 'i');
  const found: Found[] = [];
  walk(await readConfig(), '', (path, value) => {
    if (expression.test(path) || expression.test(value)) found.push([path, value]);
  });
  return found;
}

/** Every value that has no parts, with the path of its field. */
function walk(value: unknown, path: string, visit: (path: string, value: string) => void): void {
  if (typeof value !== 'object' || value === null) return visit(path, String(value));
  for (const [key, inner] of Object.entries(value)) {
    walk(
      inner,
      Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`,
      visit,
    );
  }
}
