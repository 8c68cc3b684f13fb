import { lazy, Suspense, useState } from "react";
import type { Graph } from "#api/graph.ts";

// Rarely opened, and larger than the rest of the header.
const CloneDialog = lazy(async () => ({
  default: (await import("./changes/clone-dialog.tsx")).CloneDialog,
}));
const PriorityDialog = lazy(async () => ({
  default: (await import("./changes/priority-dialog.tsx")).PriorityDialog,
}));

/** What can be done with a graph as a whole. */
export function HeaderButtons({ graph }: { readonly graph: Graph }) {
  const [open, setOpen] = useState<"clone" | "priority">();
  const close = () => setOpen(undefined);
  return (
    <>
      {graph.state === "running" ? (
        <button type="button" onClick={() => setOpen("priority")}>
          Priority…
        </button>
      ) : null}
      <button type="button" onClick={() => setOpen("clone")}>
        Clone…
      </button>
      <Suspense>
        {open === "clone" ? <CloneDialog graphId={graph.id} onClose={close} /> : null}
        {open === "priority" ? <PriorityDialog graph={graph} onClose={close} /> : null}
      </Suspense>
    </>
  );
}
