/** The most groups of a log; later ones are shown as lines. */
const mostGroups = 1_000;

/** How many characters of a line are read to tell whether a group begins or ends there. */
export const longestGroupMark = 14;

/**
 * The groups of a log, as GitHub Actions writes them, from its lines in their order. Groups do not lie in each other:
 * the next one ends the last.
 */
export class LogGroups {
  readonly #closed: [number, number][];
  #open: number | undefined;

  constructor({
    closed,
    open,
  }: { readonly closed: readonly [number, number][]; readonly open: number | undefined }) {
    this.#closed = [...closed];
    this.#open = open;
  }

  /** Reads the beginning of a line; lines count from 1. */
  line(number: number, start: string): void {
    if (start.startsWith("##[group]") || start.startsWith("::group::")) {
      this.#close(number - 1);
      this.#open = number;
    } else if (start.startsWith("##[endgroup]") || start.startsWith("::endgroup::")) {
      this.#close(number);
    }
  }

  get open(): number | undefined {
    return this.#open;
  }

  get closed(): [number, number][] {
    return this.#closed;
  }

  #close(end: number): void {
    if (this.#open !== undefined && end > this.#open && this.#closed.length < mostGroups)
      this.#closed.push([this.#open, end]);
    this.#open = undefined;
  }
}
