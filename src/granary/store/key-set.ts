import { createHash } from "node:crypto";
import { type Digest, hexOf } from "#core/digest.ts";

/**
 * These digits are 52 bits, which a number represents exactly. With a million keys, one lookup in four thousand million
 * finds another key by mistake.
 */
const hexDigitsKept = 13;

/** Returns a hash as a key for sets that are used only for planning, or to avoid unnecessary work. It is never 0. */
export function shortKey(hex: string): number {
  return Number.parseInt(hex.slice(0, hexDigitsKept), 16) || 1;
}

export function shortKeyOf(digest: Digest): number {
  return shortKey(hexOf(digest));
}

/** Returns the name of a result's record, because tools' keys may be of any length. */
export function resultName(project: string, namespace: string, key: string): string {
  return createHash("sha256").update(`${project}\0${namespace}\0${key}`).digest("hex");
}

const firstSlots = 1_024;
const fullest = 0.7;

/**
 * A set of numbers other than 0, at 11 to 23 bytes each: a `Set` of a million texts takes ten times that.
 *
 * Open addressing; a removal closes its gap at once, so no sweep is needed.
 */
export class KeySet {
  #slots = new Float64Array(firstSlots);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: number): boolean {
    return this.#slots[this.#slotOf(key)] === key;
  }

  /** Returns whether it was new. */
  add(key: number): boolean {
    const slot = this.#slotOf(key);
    if (this.#slots[slot] === key) return false;
    this.#slots[slot] = key;
    this.#size++;
    if (this.#size > this.#slots.length * fullest) this.#grow();
    return true;
  }

  /** Returns whether it was present. */
  delete(key: number): boolean {
    let hole = this.#slotOf(key);
    if (this.#slots[hole] !== key) return false;
    const mask = this.#slots.length - 1;
    for (let at = (hole + 1) & mask; this.#slots[at] !== 0; at = (at + 1) & mask) {
      // The entry may move into the hole unless its own slot is after the hole.
      const fromHome = (at - this.#home(this.#slots[at] as number)) & mask;
      if (fromHome < ((at - hole) & mask)) continue;
      this.#slots[hole] = this.#slots[at] as number;
      hole = at;
    }
    this.#slots[hole] = 0;
    this.#size--;
    return true;
  }

  /** Keys are pieces of hashes: their low bits are evenly distributed. */
  #home(key: number): number {
    return key % this.#slots.length;
  }

  #slotOf(key: number): number {
    const mask = this.#slots.length - 1;
    let slot = this.#home(key);
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Float64Array(old.length * 2);
    for (const key of old) if (key !== 0) this.#slots[this.#slotOf(key)] = key;
  }
}
