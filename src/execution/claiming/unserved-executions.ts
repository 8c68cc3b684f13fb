import type { Tx } from "#db/db.ts";
import type { ExecutionId } from "../execution.ts";
import {
  offersSeen,
  queuedKinds,
  type SeenOffer,
  sizeOfKind,
} from "../submitting/queued-kinds.store.ts";
import { whyUnserved } from "./why-unserved.ts";

/** Waiting executions with equal requirements, which none of the present workers could run. */
export interface UnservedExecutions {
  readonly count: number;
  readonly first: ExecutionId;
  /** What is missing, and what to do. */
  readonly reason: string;
}

/** Returns the executions that wait for a worker that does not exist; empty when there are no workers at all. */
export async function unservedExecutions(
  tx: Tx,
  limits: {
    /** Workers seen since then count as present. */
    readonly seenSince: Date;
    /** Workers that may be started. */
    readonly declared: readonly SeenOffer[];
    readonly mostKinds: number;
  },
): Promise<UnservedExecutions[]> {
  const { seenSince, declared, mostKinds } = limits;
  const kinds = await queuedKinds(tx);
  if (kinds.length === 0) return [];
  const offers = [...(await offersSeen(tx, seenSince)), ...declared];
  if (offers.length === 0) return [];
  const unserved: UnservedExecutions[] = [];
  for (const kind of kinds) {
    const reason = whyUnserved(kind, offers);
    if (reason === undefined) continue;
    const size = await sizeOfKind(tx, kind);
    // Undefined: they have left the queue meanwhile.
    if (size !== undefined) unserved.push({ ...size, reason });
    if (unserved.length === mostKinds) break;
  }
  return unserved;
}
