import { createHash } from "node:crypto";
import { Fault } from "#core/fault.ts";
import type { Descriptor } from "./image-manifest.ts";

/** Receives the bytes of a blob, which are verified only after the last one. */
export interface BlobReceiver<T> {
  /** Resolves when more bytes may come. */
  write(part: Uint8Array): Promise<void>;
  /** The bytes were right. */
  end(): Promise<T>;
  /** The bytes were wrong, or the rest will not come. Removes what is worthless now; called after a failure, too. */
  abandon(): Promise<void>;
}

/** The bytes of a blob that have arrived, in order. */
export class BlobProgress<T> {
  readonly #blob: Descriptor;
  readonly #open: () => Promise<BlobReceiver<T>>;
  #receiver: BlobReceiver<T> | undefined;
  /** Of the receiver. */
  failure: { readonly reason: unknown } | undefined;
  #hash = createHash("sha256");
  received = 0;

  constructor(blob: Descriptor, open: () => Promise<BlobReceiver<T>>) {
    this.#blob = blob;
    this.#open = open;
  }

  get digest(): string {
    return this.#blob.digest;
  }

  async restart(): Promise<void> {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    this.failure = undefined;
    this.#hash = createHash("sha256");
    this.received = 0;
    await receiver?.abandon();
  }

  async add(part: Uint8Array): Promise<void> {
    const { size, digest } = this.#blob;
    if (this.received + part.byteLength > size) {
      await this.restart();
      throw new Fault("data_loss", `blob ${digest} is longer than its ${size} bytes`);
    }
    this.#hash.update(part);
    this.received += part.byteLength;
    await this.#toReceiver((receiver) => receiver.write(part));
    if (this.failure !== undefined && !(this.failure.reason instanceof Fault))
      throw new Fault("resource_exhausted", "the blob cannot be stored");
  }

  async finish(): Promise<void> {
    const { size, digest } = this.#blob;
    if (this.received < size) throw new Error(`only ${this.received} of ${size} bytes arrived`);
    const found = `sha256:${this.#hash.copy().digest("hex")}`;
    if (found === digest) return;
    await this.restart();
    throw corrupt("a blob", digest, found);
  }

  async result(): Promise<T> {
    const ended = await this.#toReceiver((receiver) => receiver.end());
    if (this.failure !== undefined) throw this.failure.reason;
    return ended as T;
  }

  async #toReceiver<R>(give: (receiver: BlobReceiver<T>) => Promise<R>): Promise<R | undefined> {
    if (this.failure !== undefined) return undefined;
    try {
      this.#receiver ??= await this.#open();
      return await give(this.#receiver);
    } catch (reason) {
      this.failure = { reason };
      return undefined;
    }
  }
}

/** The fault for bytes that have another digest. */
export function corrupt(what: string, wanted: string, found: string): Fault {
  return new Fault("data_loss", `${what} is corrupt: it has digest ${found} instead of ${wanted}`);
}
