// One number of the moment, with a line of how it was before.
import { element } from './elements.js';

const POINTS = 120;
const SVG = 'http://www.w3.org/2000/svg';

export class Tile {
  readonly element = element('div', undefined, 'tile');
  readonly #value = element('div', '–', 'value');
  readonly #note = element('div', '', 'note');
  readonly #chart = document.createElementNS(SVG, 'svg');
  /** One list of points per line. */
  readonly #lines: (number | undefined)[][];

  constructor(id: string, name: string, lineCount = 1) {
    this.element.id = id;
    this.#lines = Array.from({ length: lineCount }, () => []);
    this.#chart.setAttribute('viewBox', `0 0 ${POINTS} 100`);
    this.#chart.setAttribute('preserveAspectRatio', 'none');
    this.#chart.setAttribute('aria-hidden', 'true');
    for (let i = 0; i < lineCount; i++) {
      this.#chart.append(document.createElementNS(SVG, 'polyline'));
    }
    this.element.append(element('div', name, 'name'), this.#value, this.#note, this.#chart);
  }

  show(value: string, note: string, points: readonly (number | undefined)[], isBad = false): void {
    this.#value.textContent = value;
    this.#value.classList.toggle('bad', isBad);
    this.#note.textContent = note;
    this.#lines.forEach((line, index) => {
      line.push(points[index]);
      if (line.length > POINTS) line.shift();
    });
    this.#draw();
  }

  #draw(): void {
    const highest = Math.max(1e-9, ...this.#lines.flat().map((point) => point ?? 0));
    this.#lines.forEach((line, index) => {
      const start = POINTS - line.length;
      const points = line.flatMap((point, at) =>
        point === undefined ? [] : [`${start + at},${(98 - (point / highest) * 94).toFixed(1)}`],
      );
      this.#chart.children[index]?.setAttribute('points', points.join(' '));
    });
  }
}
