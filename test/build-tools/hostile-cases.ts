import { hostileBlobs } from "./hostile-blobs.ts";
import { hostileMessages } from "./hostile-messages.ts";
import { hostileResults } from "./hostile-results.ts";
import type { Target } from "./hostile-target.ts";

/** Something that no honest client does, and what it is to get for it. */
export interface HostileCase {
  readonly name: string;
  /** A code of gRPC, or a status of HTTP. */
  readonly wanted: string | readonly string[];
  /** What must lie in the store before; answers the attack itself, which answers what it got. */
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
  /** What the attack left behind: nothing is due. */
  readonly added: readonly string[];
  readonly ms: number;
}

/** Does it, and looks whether it left anything, and whether others are still served. */
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
