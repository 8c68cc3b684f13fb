const firstSlots = 1_024;
const fullest = 0.7;

/** The place of a record, and the time of its last use. */
export interface Packed {
  readonly segment: number;
  /** The offset of the record's head in its segment. */
  readonly at: number;
  /** The size of the whole record. */
  readonly bytes: number;
  readonly usedAtS: number;
}

const segmentStep = 2 ** 32;

/**
 * Maps short keys of records (`key-set.ts`) to their places, at 34 to 69 bytes a record: a `Map` of objects takes three
 * times that.
 *
 * Open addressing; a removal closes its gap at once, so no sweep is needed.
 */
export class KeyMap {
  #keys = new Float64Array(firstSlots);
  #places = new Float64Array(firstSlots);
  #bytes = new Uint32Array(firstSlots);
  #usedAtS = new Uint32Array(firstSlots);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: number): boolean {
    return this.#keys[this.#slotOf(key)] === key;
  }

  get(key: number): Packed | undefined {
    const slot = this.#slotOf(key);
    return this.#keys[slot] === key ? this.#at(slot) : undefined;
  }

  /** Returns the replaced place. */
  set(key: number, { segment, at, bytes, usedAtS }: Packed): Packed | undefined {
    const slot = this.#slotOf(key);
    const before = this.#keys[slot] === key ? this.#at(slot) : undefined;
    this.#keys[slot] = key;
    this.#places[slot] = segment * segmentStep + at;
    this.#bytes[slot] = bytes;
    this.#usedAtS[slot] = usedAtS;
    if (before === undefined && ++this.#size > this.#keys.length * fullest) this.#grow();
    return before;
  }

  /** Removes a key; returns its value. */
  delete(key: number): Packed | undefined {
    let hole = this.#slotOf(key);
    if (this.#keys[hole] !== key) return undefined;
    const before = this.#at(hole);
    const mask = this.#keys.length - 1;
    for (let at = (hole + 1) & mask; this.#keys[at] !== 0; at = (at + 1) & mask) {
      // The entry may move into the hole unless its own slot is after the hole.
      const fromHome = (at - this.#home(this.#keys[at] as number)) & mask;
      if (fromHome < ((at - hole) & mask)) continue;
      this.#move(at, hole);
      hole = at;
    }
    this.#keys[hole] = 0;
    this.#size--;
    return before;
  }

  *entries(): Generator<readonly [number, Packed]> {
    for (let slot = 0; slot < this.#keys.length; slot++) {
      const key = this.#keys[slot] as number;
      if (key !== 0) yield [key, this.#at(slot)];
    }
  }

  #at(slot: number): Packed {
    const place = this.#places[slot] as number;
    const segment = Math.floor(place / segmentStep);
    return {
      segment,
      at: place - segment * segmentStep,
      bytes: this.#bytes[slot] as number,
      usedAtS: this.#usedAtS[slot] as number,
    };
  }

  #move(from: number, to: number): void {
    for (const array of [this.#keys, this.#places, this.#bytes, this.#usedAtS]) {
      array[to] = array[from] as number;
    }
  }

  /** Keys are pieces of hashes: their low bits are evenly distributed. */
  #home(key: number): number {
    return key % this.#keys.length;
  }

  #slotOf(key: number): number {
    const mask = this.#keys.length - 1;
    let slot = this.#home(key);
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const old = [...this.entries()];
    const slots = this.#keys.length * 2;
    this.#keys = new Float64Array(slots);
    this.#places = new Float64Array(slots);
    this.#bytes = new Uint32Array(slots);
    this.#usedAtS = new Uint32Array(slots);
    this.#size = 0;
    for (const [key, packed] of old) this.set(key, packed);
  }
}
