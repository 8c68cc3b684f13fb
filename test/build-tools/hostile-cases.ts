import { hostileBlobs } from "./hostile-blobs.ts";
import { hostileMessages } from "./hostile-messages.ts";
import { hostileResults } from "./hostile-results.ts";
import type { Target } from "./hostile-target.ts";

/** A call that no honest client makes, and the expected response. */
export interface HostileCase {
  readonly name: string;
  /** A code of gRPC, or a status of HTTP. */
  readonly wanted: string | readonly string[];
  /** Prepares the store; returns the attack, which returns its response. */
  prepare(target: Target): Promise<() => Promise<string>>;
}

export const hostileCases: readonly HostileCase[] = [
  ...hostileBlobs,
  ...hostileMessages,
  ...hostileResults,
];

interface Tried {
  readonly got: string;
  readonly isAsWanted: boolean;
  /** Stored data that the attack left; it must be empty. */
  readonly added: readonly string[];
  readonly ms: number;
}

/** Runs the attack, and checks that it left nothing and that others are still served. */
export async function tryHostile(hostile: HostileCase, target: Target): Promise<Tried> {
  const attack = await hostile.prepare(target);
  const before = new Set(await target.kept());
  const since = performance.now();
  const got = await attack();
  const ms = performance.now() - since;
  const added = (await target.kept()).filter((each) => !before.has(each));
  const honest = Buffer.from(`an honest blob after ${hostile.name}`);
  const { digestOf } = await import("#cas/digest-of.ts");
  const digest = digestOf(honest);
  await target.blobs.put(digest, honest);
  const back = await target.blobs.get(digest);
  if (back === undefined || !honest.equals(back)) throw new Error("an honest client got no blob");
  return { got, isAsWanted: [hostile.wanted].flat().includes(got), added, ms };
}
