import type { Namespace } from "#cas/namespaces/namespace.ts";
import { type Digest, hexOf } from "#core/digest.ts";
import type { Hold } from "./worth-of-blobs.ts";

/**
 * 52 bits: the bits that a number stores exactly. In a million blobs, two have the same 52 bits once in ten thousand
 * rounds.
 */
const digits = 13;

/**
 * The set of held blobs, with 8 to 32 bytes for each instead of its name.
 *
 * If two blobs share these bytes, one more blob than necessary is kept, which does no harm.
 */
export class HeldBlobs {
  /** 0 is an empty place. */
  #places = new Float64Array(1_024);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Returns whether the blob was held already. */
  add(digest: Digest): boolean {
    if (this.#count * 2 >= this.#places.length) this.#grow();
    return this.#put(signOf(digest));
  }

  has(digest: Digest): boolean {
    const sign = signOf(digest);
    return this.#places[this.#find(sign)] === sign;
  }

  #put(sign: number): boolean {
    const at = this.#find(sign);
    if (this.#places[at] === sign) return true;
    this.#places[at] = sign;
    this.#count++;
    return false;
  }

  #find(sign: number): number {
    const last = this.#places.length - 1;
    let at = (sign % 2 ** 32) & last;
    while (this.#places[at] !== 0 && this.#places[at] !== sign) at = (at + 1) & last;
    return at;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = new Float64Array(before.length * 2);
    this.#count = 0;
    for (const sign of before) if (sign !== 0) this.#put(sign);
  }
}

/** The holds on the blobs of one namespace. */
class HoldsOfNamespace {
  readonly firm = new HeldBlobs();
  readonly light = new HeldBlobs();
}

/**
 * The holds on blobs at the start of the round. A blob that is claimed later was used at that moment, and so counts as
 * young.
 */
export class Holds {
  readonly #namespaces = new Map<Namespace, HoldsOfNamespace>();

  in(namespace: Namespace): HoldsOfNamespace {
    const its = this.#namespaces.get(namespace) ?? new HoldsOfNamespace();
    this.#namespaces.set(namespace, its);
    return its;
  }

  of(namespace: Namespace, digest: Digest): Hold | undefined {
    const its = this.#namespaces.get(namespace);
    if (its?.firm.has(digest)) return "firm";
    return its?.light.has(digest) ? "light" : undefined;
  }
}

function signOf(digest: Digest): number {
  return 1 + Number.parseInt(hexOf(digest).slice(0, digits), 16);
}
