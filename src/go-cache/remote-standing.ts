/** What a process still does with a cache over the network. */
interface RemoteStanding {
  readonly reads: boolean;
  readonly writes: boolean;
  /** Failures in succession. */
  readonly failures: number;
}

export const newRemote: RemoteStanding = { reads: true, writes: true, failures: 0 };

/** How a request ended. `refused`: the server answered that the caller may not do this. */
export type RemoteEnd =
  | { readonly kind: "answered" }
  | { readonly kind: "refused"; readonly method: "read" | "write"; readonly message: string }
  | { readonly kind: "failed"; readonly message: string };

/** More would delay a build for nothing: the requests of a build run side by side. */
const mostFailures = 3;

/**
 * Returns the standing after a request, and the warning for the user when the program stops using the cache.
 *
 * A process lives as long as one go command, so it does not try again later. Who may not read gets nothing from writing.
 */
export function afterRequest(
  before: RemoteStanding,
  end: RemoteEnd,
): { readonly standing: RemoteStanding; readonly warning?: string } {
  switch (end.kind) {
    case "answered":
      return { standing: { ...before, failures: 0 } };
    case "refused":
      if (end.method === "write") {
        const warning = `new results stay on this machine: ${end.message}`;
        return { standing: { ...before, writes: false }, ...(before.writes ? { warning } : {}) };
      }
      return stopped(before, end.message);
    case "failed": {
      const failures = before.failures + 1;
      if (failures < mostFailures) return { standing: { ...before, failures } };
      return stopped({ ...before, failures }, end.message);
    }
  }
}

function stopped(before: RemoteStanding, message: string) {
  const standing = { ...before, reads: false, writes: false };
  if (!before.reads) return { standing };
  return { standing, warning: `only the cache of this machine is used: ${message}` };
}
