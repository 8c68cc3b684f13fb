import type { InputRoots } from "#worker/input-root/input-root.ts";
import { type Accesses, AccessRecord } from "./access-record.ts";

/** Input roots that record which files a job reads. */
export interface TracedInputRoots extends InputRoots {
  /** Returns the read files of the latest root, after it is unmounted. */
  readonly latest: () => Promise<Accesses>;
}

/**
 * Records reads below the roots of another implementation. Its files must be separate copies for each root: hard links
 * and the layers of an overlay would share their access times.
 */
export function tracedInputRoots(base: InputRoots): TracedInputRoots {
  let latest: Promise<Accesses> | undefined;
  return {
    kind: base.kind,
    filesOf: (root, farm) => base.filesOf(root, farm),
    latest: () => latest ?? Promise.reject(new Error("no input root was made")),

    async make(digest, scratch, farm) {
      const root = await base.make(digest, scratch, farm);
      const record = new AccessRecord(root.seen);
      let takenDown = () => {};
      latest = new Promise<void>((resolve) => {
        takenDown = resolve;
      }).then(() => accesses);
      let accesses: Accesses = { read: new Set(), listed: new Set() };
      return {
        ...root,
        async unmount() {
          accesses = record.accesses();
          takenDown();
          await root.unmount();
        },
      };
    },
  };
}
