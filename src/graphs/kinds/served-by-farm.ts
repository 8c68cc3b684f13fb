import type { JobKind } from "#api/graph.ts";

/** Kinds of job that the farm serves itself: no action is made of them, and no worker sees them. */
export type ServerJobKind = "breakpoint" | "timer" | "notify" | "dummy";

/** Who sees to a job of this kind once it is ready. `nobody`: it is over when it would begin. */
export function serverOf(kind: JobKind): "worker" | "farm" | "nobody" {
  switch (kind) {
    case "command":
    case "graph":
      return "worker";
    case "breakpoint":
    case "timer":
    case "notify":
    case "dummy":
      return "farm";
    case "join":
      return "nobody";
  }
}
