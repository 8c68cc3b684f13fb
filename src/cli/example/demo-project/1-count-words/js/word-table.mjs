/** Half of the places are empty at any time, so that searches are short. */
const firstPlaces = 64;

/**
 * A hash table from words to what is known of them: open addressing with linear probing.
 *
 * It is written out, where a Map would do, for two reasons: the C library has the same table, and
 * this one counts its probes. A probe is one look at one place. Their number is the same on every
 * machine, so it is what the benchmarks compare.
 */
export class WordTable {
  probes = 0;
  #places = new Array(firstPlaces).fill(undefined);
  #size = 0;

  get size() {
    return this.#size;
  }

  /** Returns the entry of a word, which begins with a count of 0 and no lines. */
  entry(word) {
    if (2 * (this.#size + 1) > this.#places.length) this.#grow();
    const place = this.#placeOf(word);
    const found = this.#places[place];
    if (found !== undefined) return found;
    const entry = { word, count: 0, lines: [] };
    this.#places[place] = entry;
    this.#size += 1;
    return entry;
  }

  /** Returns all entries, sorted by their words. */
  entries() {
    return this.#places
      .filter((entry) => entry !== undefined)
      .sort((a, b) => (a.word < b.word ? -1 : 1));
  }

  /** Returns the place where the word is, or the empty place where it belongs. */
  #placeOf(word) {
    const mask = this.#places.length - 1;
    let place = hashOf(word) & mask;
    for (;;) {
      this.probes += 1;
      const entry = this.#places[place];
      if (entry === undefined || entry.word === word) return place;
      place = (place + 1) & mask;
    }
  }

  #grow() {
    const before = this.#places;
    this.#places = new Array(2 * before.length).fill(undefined);
    for (const entry of before) {
      if (entry !== undefined) this.#places[this.#placeOf(entry.word)] = entry;
    }
  }
}

/** FNV-1a, 32 bits, over all characters of the word. */
function hashOf(word) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) {
    hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
