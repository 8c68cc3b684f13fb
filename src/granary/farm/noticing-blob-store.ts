import type { BlobStore } from "#cas/blob-store.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";

/** The farm's blobs over the present connection; the outcome of each call updates the circuit. */
export function noticing(base: () => BlobStore, circuit: CircuitBreaker): BlobStore {
  async function* noticed(chunks: AsyncIterable<Uint8Array>) {
    try {
      yield* chunks;
    } catch (reason) {
      circuit.failed(reason);
      throw reason;
    }
  }
  return {
    get: (digest) => circuit.through(() => base().get(digest)),
    async read(digest, range) {
      const chunks = await circuit.through(() => base().read(digest, range));
      return chunks && noticed(chunks);
    },
    put: (digest, bytes) => circuit.through(() => base().put(digest, bytes)),
    // The chunks come from this machine, so the failure may also be local.
    write: (digest, chunks) => base().write(digest, chunks),
    findMissing: (digests) => circuit.through(() => base().findMissing(digests)),
  };
}
