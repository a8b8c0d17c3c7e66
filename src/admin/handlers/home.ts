// GET /, a page for people with a link or a button for every endpoint, and GET /help, the same as text;
// GET /ui, which shows what the proxy does now.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../base/package-root.js';
import { badRequest } from '../http/http.js';
import { endpointList, parameterHelp, type Endpoint, type EndpointParameter } from '../endpoint.js';

/** What pages answer where the build left them out. */
export const HTML_DISABLED = badRequest(
  'HTML output was disabled by building with --define=admin_html=disabled',
);

export function homeEndpoints(endpoints: () => readonly Endpoint[]): Endpoint[] {
  return [
    {
      path: '/',
      help: 'this list as a page',
      mutates: false,
      parameters: [],
      handle: () =>
        process.env.FAIRLEAD_ADMIN_HTML === 'disabled'
          ? HTML_DISABLED
          : { type: 'html', body: page(endpoints()) },
    },
    {
      path: '/ui',
      isOwn: true,
      help: 'a page that shows traffic, clusters and hosts as they are now',
      mutates: false,
      parameters: [],
      handle: () =>
        process.env.FAIRLEAD_ADMIN_HTML === 'disabled'
          ? HTML_DISABLED
          : { type: 'html', body: readFileSync(join(packageRoot(), 'dist', 'ui.html'), 'utf8') },
    },
    {
      path: '/help',
      help: 'this list as text',
      mutates: false,
      parameters: [],
      handle: () => ({ body: endpointList(endpoints()) }),
    },
  ];
}

export const STYLE = `
  :root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
  body { max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.3rem; font-weight: 600; }
  table { border-collapse: collapse; width: 100%; }
  td { padding: .4rem 1.5rem .4rem 0; border-top: 1px solid #8884; vertical-align: top; }
  td:first-child { width: 65%; }
  .name, label { font-family: ui-monospace, monospace; white-space: nowrap; }
  .change { color: light-dark(#a3201a, #ff8a7a); }
  form { display: grid; grid-template-columns: 12rem 13rem 1fr; align-items: baseline; gap: .3rem .8rem; }
  form > .name { grid-column: 1 / -1; justify-self: start; }
  label { padding-left: 1rem; }
  input[type='checkbox'] { justify-self: start; }
  small { opacity: .7; }
  button { font: inherit; cursor: pointer; border: 1px solid #8888; border-radius: 4px; padding: .1rem .6rem; background: light-dark(#f0f1f3, #262a30); }
  th { padding: .4rem 1.5rem .4rem 0; text-align: left; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  @media (max-width: 60rem) {
    #endpoints :is(tbody, tr, td) { display: block; }
    #endpoints td { width: auto; }
    #endpoints td + td { padding-top: 0; border-top: 0; }
    td { overflow-wrap: anywhere; }
    td:first-child { width: auto; }
    form { grid-template-columns: minmax(min-content, 12rem) minmax(0, 13rem); }
    form input:not([type]), form select { min-width: 0; width: 100%; box-sizing: border-box; }
    form > small { grid-column: 1 / -1; padding-left: 1rem; }
    form > span { display: none; }
  }
`;

function page(endpoints: readonly Endpoint[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>fairlead admin</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<h1>fairlead admin</h1>
<p>What the proxy does now: <a href="ui">traffic, clusters and hosts</a>. Red buttons change something.</p>
<table id="endpoints">
${endpoints.map(row).join('\n')}
</table>
</body>
</html>
`;
}

function row(endpoint: Endpoint): string {
  return `<tr><td>${form(endpoint)}</td><td>${escaped(endpoint.help)}</td></tr>`;
}

/**
 * What changes something is a button, so that no link and no crawler does it. Addresses are relative:
 * the page may be shown by a proxy that puts a path before them.
 */
function form({ path, mutates, parameters }: Endpoint): string {
  const name = escaped(path.slice(1));
  if (!mutates && parameters.length === 0) {
    return `<a class="name" href="${name || '.'}">${name || '/'}</a>`;
  }
  const fields = parameters
    .map((parameter, index) => field(parameter, `${path.slice(1)}-${index}`))
    .join('');
  const method = mutates ? 'post' : 'get';
  const look = mutates ? 'name change' : 'name';
  return `<form method="${method}" action="${name}"><button class="${look}">${name}</button>${fields}</form>`;
}

function field(parameter: EndpointParameter, id: string): string {
  const name = escaped(parameter.name);
  const at = escaped(id);
  const label = `<label for="${at}">${name}</label>`;
  const hint = `<small>${escaped(parameterHelp(parameter))}</small>`;
  return label + input(parameter, `id="${at}" name="${name}"`) + hint;
}

function input({ oneOf, isFlag }: EndpointParameter, attributes: string): string {
  // The parameter's presence is what counts, and a box that is not ticked is not sent.
  if (isFlag) return `<input type="checkbox" ${attributes} value="">`;
  if (oneOf === undefined) return `<input ${attributes}>`;
  const options = ['', ...oneOf].map((value) => `<option>${escaped(value)}</option>`).join('');
  return `<select ${attributes}>${options}</select>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
