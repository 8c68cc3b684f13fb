import { expect, test } from "vitest";
import { afterRequest, newRemote, type RemoteEnd } from "./remote-standing.ts";

const failed: RemoteEnd = { kind: "failed", message: "gone" };
const answered: RemoteEnd = { kind: "answered" };
const refused = (method: "read" | "write"): RemoteEnd => ({
  kind: "refused",
  method,
  message: "no",
});

/** Returns what is still used after these requests, and the warnings on the way. */
function after(...ends: readonly RemoteEnd[]) {
  let standing = newRemote;
  const warnings: string[] = [];
  for (const end of ends) {
    const next = afterRequest(standing, end);
    standing = next.standing;
    if (next.warning !== undefined) warnings.push(next.warning);
  }
  return { uses: `${standing.reads} ${standing.writes}`, warnings };
}

test.each([
  ["two failures", [failed, failed], "true true", 0],
  ["three failures", [failed, failed, failed], "false false", 1],
  ["many failures", [failed, failed, failed, failed, failed], "false false", 1],
  ["failures between answers", [failed, failed, answered, failed, failed], "true true", 0],
  ["a refused read", [refused("read"), refused("read"), failed], "false false", 1],
  ["a refused write", [refused("write"), refused("write"), answered], "true false", 1],
  ["refused writes, then failures", [refused("write"), failed, failed, failed], "false false", 2],
] as const)("after %s", (_, ends, uses, warnings) => {
  expect(after(...ends)).toMatchObject({ uses, warnings: { length: warnings } });
});
