/** Lines that a folded group hides: from and to, counted from 0, both hidden. */
type Hidden = readonly [number, number];

/**
 * The rows of a log's list: which lines they show. Lines of folded groups have no row, and of a very long log only a
 * part has rows at a time, because browsers limit the height of an element.
 */
export class ShownLines {
  readonly #hidden: readonly Hidden[];
  readonly #from: number;
  readonly count: number;

  /**
   * @param lines of the log
   * @param groups which are folded: the line of the title, and the last line, counted from 1; ascending
   * @param from the first line with a row, from 0
   */
  constructor(
    lines: number,
    groups: readonly (readonly [number, number])[],
    from: number,
    mostRows: number,
  ) {
    this.#from = from;
    this.#hidden = groups
      .map(([title, end]): Hidden => [title, Math.min(end, lines) - 1])
      .filter(([first, last]) => last >= first && first >= from);
    const all =
      lines - from - this.#hidden.reduce((sum, [first, last]) => sum + last - first + 1, 0);
    this.count = Math.max(0, Math.min(all, mostRows));
  }

  /** Returns the line of a row, both from 0. */
  lineAt(row: number): number {
    let line = this.#from + row;
    for (const [first, last] of this.#hidden) {
      if (first > line) break;
      line += last - first + 1;
    }
    return line;
  }

  /** Returns the row of a line, both from 0; for a hidden line, the row of its group's title. */
  rowOf(line: number): number {
    let hidden = 0;
    for (const [first, last] of this.#hidden) {
      if (first > line) break;
      hidden += Math.min(line, last) - first + 1;
    }
    return Math.max(0, line - this.#from - hidden);
  }
}
