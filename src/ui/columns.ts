// A table whose columns sort it.
import { button, element } from './elements.js';

export interface Column<T> {
  readonly title: string;
  /** What it sorts by. */
  readonly key: (item: T) => number | string;
  readonly cell: (item: T) => string | Node;
}

export class SortedColumns<T> {
  readonly #columns: readonly Column<T>[];
  readonly #heads: readonly HTMLTableCellElement[];
  #sortedBy: Column<T>;
  #isDescending = true;

  constructor(columns: readonly Column<T>[], first: Column<T>, head: Element, sorted: () => void) {
    this.#columns = columns;
    this.#sortedBy = first;
    this.#heads = columns.map((column) => {
      const cell = element('th');
      cell.scope = 'col';
      cell.append(
        button(column.title, () => {
          this.#isDescending = this.#sortedBy === column ? !this.#isDescending : true;
          this.#sortedBy = column;
          this.#mark();
          sorted();
        }),
      );
      return cell;
    });
    head.append(...this.#heads);
    this.#mark();
  }

  cells(item: T): readonly (string | Node)[] {
    return this.#columns.map((column) => column.cell(item));
  }

  sort(items: T[]): T[] {
    const { key } = this.#sortedBy;
    const direction = this.#isDescending ? -1 : 1;
    return items.sort((a, b) => {
      const [left, right] = [key(a), key(b)];
      return left === right ? 0 : left < right ? -direction : direction;
    });
  }

  #mark(): void {
    this.#columns.forEach((column, index) => {
      const order = this.#isDescending ? 'descending' : 'ascending';
      this.#heads[index]?.setAttribute('aria-sort', column === this.#sortedBy ? order : 'none');
    });
  }
}
