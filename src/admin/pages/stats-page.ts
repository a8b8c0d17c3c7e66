// /stats for people: format=html, a form over the text, and format=active-html, which shows what
// changes most and keeps itself up to date.
import type { Page } from '../../native-stats.js';
import type { EndpointParameter } from '../endpoint.js';
import { escaped, STYLE } from './html.js';
import type { Parameters } from '../http/parameters.js';

/** Rows of the active page; it can be changed there. */
const ACTIVE_ROWS = 50;
const ACTIVE_SECONDS = 5;

export function statsPage(
  parameters: readonly EndpointParameter[],
  given: Parameters,
  text: Page,
): Page {
  const head = `${headOf('statistics')}${form(parameters, given)}\n<pre>\n`;
  const pieces = (function* () {
    yield Buffer.from(head);
    for (let piece = text.next(); piece !== null; piece = text.next()) {
      yield Buffer.from(escaped(piece.toString('latin1')), 'latin1');
    }
    yield Buffer.from('</pre>\n</body>\n</html>\n');
  })();
  return { next: () => pieces.next().value ?? null };
}

export function activeStatsPage(
  parameters: readonly EndpointParameter[],
  given: Parameters,
): string {
  return `${headOf('active statistics')}${form(parameters, given)}
<p>
<label>Rows <input id="rows" type="number" min="1" value="${ACTIVE_ROWS}"></label>
<label>Seconds <input id="seconds" type="number" min="1" value="${ACTIVE_SECONDS}"></label>
<span id="error" role="status"></span>
</p>
<table>
<thead><tr><th>Statistic</th><th>Value</th><th>Changes</th></tr></thead>
<tbody id="changing"></tbody>
</table>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** Counts how often each value changed, and shows those that changed most. */
const SCRIPT = `
const known = new Map();
const element = (id) => document.getElementById(id);
async function load() {
  const query = new URLSearchParams(location.search);
  query.set('format', 'json');
  query.set('usedonly', '');
  const answer = await fetch('stats?' + query);
  if (!answer.ok) throw new Error(await answer.text());
  for (const { name, value } of (await answer.json()).stats) {
    if (name === undefined) continue;
    const before = known.get(name);
    if (!before) known.set(name, { name, value, changes: 0 });
    else if (before.value !== value) { before.value = value; before.changes++; }
  }
}
function show() {
  const byChanges = [...known.values()].sort((a, b) => b.changes - a.changes || (a.name < b.name ? -1 : 1));
  const rows = byChanges.slice(0, Number(element('rows').value)).map((stat) => {
    const row = document.createElement('tr');
    for (const text of [stat.name, stat.value, stat.changes]) row.insertCell().textContent = text;
    return row;
  });
  element('changing').replaceChildren(...rows);
}
async function turn() {
  try {
    await load();
    show();
    element('error').textContent = '';
  } catch (error) {
    element('error').textContent = error.message;
  }
  setTimeout(turn, Math.min(86400, Math.max(1, Number(element('seconds').value))) * 1000);
}
turn();
`;

const headOf = (title: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} – fairlead admin</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
`;

function form(parameters: readonly EndpointParameter[], given: Parameters): string {
  const fields = parameters.map((parameter) => {
    const { name } = parameter;
    return `<label for=${name}>${name}</label>${field(parameter, given.get(name))}<span></span>`;
  });
  return `<form method="get" action="stats">${fields.join('\n')}<button>show</button></form>`;
}

function field({ name, oneOf, isFlag }: EndpointParameter, value: string | undefined): string {
  const attributes = `id=${name} name=${name}`;
  if (isFlag) {
    return `<input type="checkbox" ${attributes} value=""${value === undefined ? '' : ' checked'}>`;
  }
  if (!oneOf) return `<input ${attributes} value="${escaped(value ?? '')}">`;
  const options = ['', ...oneOf].map(
    (option) => `<option${option === value ? ' selected' : ''}>${option}</option>`,
  );
  return `<select ${attributes}>${options.join('')}</select>`;
}
