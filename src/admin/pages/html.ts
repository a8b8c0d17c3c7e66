// What pages for people share.
import { badRequest } from '../http/http.js';

/** What pages answer where the build left them out. */
export const HTML_DISABLED = badRequest(
  'HTML output was disabled by building with --define=admin_html=disabled',
);

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

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
