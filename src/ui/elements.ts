// Small ways of making parts of the page. Texts are always set as texts: names from a configuration
// can hold anything.

export function byId<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text?: string,
  className = '',
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className !== '') made.className = className;
  return made;
}

export function button(text: string, clicked: () => void): HTMLButtonElement {
  const made = element('button', text);
  made.type = 'button';
  made.addEventListener('click', clicked);
  return made;
}

/** The cells of a row; a string is a text. */
export function row(cells: readonly (string | Node)[]): HTMLTableRowElement {
  const made = element('tr');
  for (const cell of cells) made.insertCell().append(cell);
  return made;
}
