/**
 * Matches all forms at once, a byte at a time (Aho and Corasick, 1975): the time does not depend on the number of forms
 * or on the text.
 */
export class FormMatcher {
  readonly longest: number;
  /** The root's children by byte, because most bytes of a log end at the root. */
  readonly #ofRoot = new Int32Array(256);
  /**
   * For each other state, its first child, which is usually the only one, and the byte that leads to it; 0 for none.
   */
  readonly #firstByte: Uint8Array;
  readonly #first: Int32Array;
  /** Further children, by state and byte. */
  readonly #more = new Map<number, number>();
  readonly #fallback: Int32Array;
  /** For each state, the number of bytes read of the longest possible form. */
  readonly depth: Int32Array;
  /** For each state, the length of the longest form that ends with it; 0 for none. */
  readonly ending: Int32Array;

  constructor(forms: readonly Uint8Array[]) {
    const most = 1 + forms.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.longest = forms.reduce((longest, { byteLength }) => Math.max(longest, byteLength), 0);
    this.#firstByte = new Uint8Array(most);
    this.#first = new Int32Array(most);
    this.#fallback = new Int32Array(most);
    this.depth = new Int32Array(most);
    this.ending = new Int32Array(most);
    const byteOf = new Uint8Array(most);
    const parentOf = new Int32Array(most);
    let count = 1;
    for (const form of forms) {
      let state = 0;
      for (const byte of form) {
        let next = this.#child(state, byte);
        if (next === 0) {
          next = count++;
          this.#adopt(state, byte, next);
          byteOf[next] = byte;
          parentOf[next] = state;
          this.depth[next] = (this.depth[state] ?? 0) + 1;
        }
        state = next;
      }
      this.ending[state] = form.byteLength;
    }
    this.#link(count, byteOf, parentOf);
  }

  /** Returns the state after one more byte. */
  step(state: number, byte: number): number {
    let from = state;
    for (;;) {
      const next = this.#child(from, byte);
      if (next !== 0 || from === 0) return next;
      from = this.#fallback[from] ?? 0;
    }
  }

  #child(state: number, byte: number): number {
    if (state === 0) return this.#ofRoot[byte] ?? 0;
    const first = this.#first[state] ?? 0;
    if (first === 0 || this.#firstByte[state] === byte) return first;
    return this.#more.size === 0 ? 0 : (this.#more.get(state * 256 + byte) ?? 0);
  }

  #adopt(state: number, byte: number, child: number): void {
    if (state === 0) this.#ofRoot[byte] = child;
    else if (this.#first[state] === 0) {
      this.#first[state] = child;
      this.#firstByte[state] = byte;
    } else this.#more.set(state * 256 + byte, child);
  }

  #link(count: number, byteOf: Uint8Array, parentOf: Int32Array): void {
    const shallowFirst = Array.from({ length: count }, (_, state) => state).sort(
      (a, b) => (this.depth[a] ?? 0) - (this.depth[b] ?? 0),
    );
    for (const state of shallowFirst) {
      if (state === 0 || parentOf[state] === 0) continue;
      const fallback = this.step(this.#fallback[parentOf[state] ?? 0] ?? 0, byteOf[state] ?? 0);
      this.#fallback[state] = fallback;
      this.ending[state] = Math.max(this.ending[state] ?? 0, this.ending[fallback] ?? 0);
    }
  }
}
