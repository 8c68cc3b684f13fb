import type { OpenOptions, OpenSuite } from "./case.ts";

/** Returns a function that opens the shared target; the target ends with its last user. */
export function shared<T extends { stop(): Promise<void> }>(start: (full: boolean) => Promise<T>) {
  let standing: Promise<T> | undefined;
  let holders = 0;
  return async ({ full }: OpenOptions): Promise<OpenSuite<T>> => {
    holders += 1;
    standing ??= start(full);
    const target = await standing.catch((reason: unknown) => {
      holders -= 1;
      standing = undefined;
      throw reason;
    });
    return {
      target,
      async stop() {
        holders -= 1;
        if (holders > 0) return;
        standing = undefined;
        await target.stop();
      },
    };
  };
}
