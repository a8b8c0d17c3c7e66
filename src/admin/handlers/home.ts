// GET /: a page for people, with a link or a button for every endpoint.
import type { Endpoint } from '../endpoints.js';

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
table { border-collapse: collapse; width: 100%; }
td { padding: .35rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
td:first-child { white-space: nowrap; font-family: ui-monospace, monospace; }
button { font: inherit; cursor: pointer; }
form { display: inline; }
small { opacity: .75; }`;

export function homeEndpoint(endpoints: () => readonly Endpoint[]): Endpoint {
  return {
    path: '/',
    help: 'Admin home page',
    mutates: false,
    parameters: [],
    handle: () => ({ type: 'html', body: page(endpoints()) }),
  };
}

function page(endpoints: readonly Endpoint[]): string {
  const rows = [...endpoints].sort((a, b) => (a.path < b.path ? -1 : 1)).map(row);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>fairlead admin</title>
<meta name="viewport" content="width=device-width"><style>${STYLE}</style></head>
<body><h1>fairlead admin</h1><table>${rows.join('')}</table></body></html>
`;
}

function row(endpoint: Endpoint): string {
  const name = endpoint.path.slice(1) || 'home';
  // What changes something is a button, so that no link or crawler does it.
  const way = endpoint.mutates
    ? `<form method="post" action="${name}"><button>${name}</button></form>`
    : `<a href="${endpoint.path.slice(1) || '.'}">${name}</a>`;
  const parameters = endpoint.parameters.map((parameter) => {
    const choice = parameter.oneOf === undefined ? '' : ` (${parameter.oneOf.join(', ')})`;
    return `<br><small><code>${escape(parameter.name)}</code>: ${escape(parameter.help + choice)}</small>`;
  });
  return `<tr><td>${way}</td><td>${escape(endpoint.help)}${parameters.join('')}</td></tr>`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
