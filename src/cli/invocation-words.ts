import type { InvocationCounts, InvocationSummary } from "#api/invocation.ts";
import { printableLine } from "./terminal/printable-text.ts";

/** Returns the command as it was typed: `bazel test //...`; for tools that do not report it, their name. */
export function invocationTitle({
  build,
  tool,
}: Pick<InvocationSummary, "build" | "tool">): string {
  const name = tool.name === "" ? "a build tool" : tool.name;
  const words = build === null ? [name] : [name, build.command, ...build.patterns];
  return printableLine(words.filter((word) => word !== "").join(" "));
}

/** `120 hits, 3 executed, 1 failed`: zeros are left out. */
export function countsText(counts: InvocationCounts): string {
  const said: readonly (readonly [number, string])[] = [
    [counts.hits, counts.hits === 1 ? "hit" : "hits"],
    [counts.succeeded, "executed"],
    [counts.failed, "failed"],
    [counts.cancelled, "cancelled"],
    [counts.executing, "executing"],
    [counts.queued, "queued"],
  ];
  const text = said
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`)
    .join(", ");
  return text === "" ? "no actions" : text;
}
