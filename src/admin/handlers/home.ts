// GET /, a page for people with a link or a button for every endpoint, and GET /help, the same as text;
// GET /ui, which shows what the proxy does now.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../base/package-root.js';
import { escaped, HTML_DISABLED, STYLE } from '../pages/html.js';
import { LIVE_PATH, ONLY_SOCKETS } from '../http/http.js';
import { endpointList, parameterHelp, type Endpoint, type EndpointParameter } from '../endpoint.js';

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
      path: LIVE_PATH,
      isOwn: true,
      help: 'a WebSocket by which that page is told what it shows',
      mutates: false,
      parameters: [],
      handle: () => (process.env.FAIRLEAD_ADMIN_HTML === 'disabled' ? HTML_DISABLED : ONLY_SOCKETS),
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
