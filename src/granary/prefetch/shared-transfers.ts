import type { ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";

/**
 * The transfers to this machine, of all builds. A build waits for a transfer that another has started.
 */
export interface SharedTransfers {
  /** Announces a transfer and returns the function that ends it. Undefined if another build has announced it. */
  claim(name: string): (() => void) | undefined;
  /** Resolves when the transfer has ended; undefined if there is none. */
  coming(name: string): Promise<void> | undefined;
}

export function resultName(project: string, key: ResultKey): string {
  return `result ${project} ${key.namespace} ${key.key}`;
}

export function blobName(digest: Digest): string {
  return `blob ${digestKey(digest)}`;
}

export function sharedTransfers(): SharedTransfers {
  const underWay = new Map<string, Promise<void>>();
  return {
    claim(name) {
      if (underWay.has(name)) return undefined;
      let done = () => {};
      const end = new Promise<void>((resolve) => {
        done = resolve;
      });
      underWay.set(name, end);
      return () => {
        if (underWay.get(name) === end) underWay.delete(name);
        done();
      };
    },
    coming: (name) => underWay.get(name),
  };
}
