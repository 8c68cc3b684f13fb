import type { ResultKey } from "#commit-index/result-key.ts";
import { type Digest, digestKey } from "#core/digest.ts";

/**
 * What is on its way to this machine, whichever build it is for: what one has asked for, another waits for.
 */
export interface SharedTransfers {
  /** Says that it is on its way; answers how to say that it is not any more. Undefined: another has said so. */
  claim(name: string): (() => void) | undefined;
  /** Resolves once it is here, or will not come; undefined when it is not on its way. */
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
