import { Fault } from "#core/fault.ts";
import type { InvocationName } from "./invocation-row.store.ts";

/** Both parts are others' text: a project may have slashes, an id anything. */
export function formatInvocationCursor({ project, id }: InvocationName): string {
  return Buffer.from(JSON.stringify([project, id])).toString("base64url");
}

/** Throws `invalid_argument` for what no list gave. */
export function parseInvocationCursor(text: string): InvocationName {
  try {
    const read: unknown = JSON.parse(Buffer.from(text, "base64url").toString());
    if (Array.isArray(read) && typeof read[0] === "string" && typeof read[1] === "string") {
      return { project: read[0], id: read[1] };
    }
  } catch {
    // No JSON: refused below.
  }
  throw new Fault("invalid_argument", "`before` is none that a list of invocations gave as `next`");
}
