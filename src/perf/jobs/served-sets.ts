/** The facts about a collector that determine which sets it serves. */
export interface SetServer {
  readonly name: string;
  /** Null: all sets. */
  readonly set: number | null;
  readonly mayTakeOver: readonly number[];
  readonly active: boolean;
  readonly outOfDuty: string | null;
  /** Null: it never called. */
  readonly lastHeartbeatAt: Date | null;
  /** When it was reported as silent. */
  readonly toldSilentAt: Date | null;
}

/** The sets from which a collector may take jobs: only these, or all except these. */
export interface ServedSets {
  readonly allBut: boolean;
  readonly sets: readonly number[];
}

/**
 * Returns the sets that a collector serves, among those of its target.
 *
 * A set stays with its collector, because figures of two machines cannot be compared. Only when that collector is
 * silent or out of duty may another one take over the set: a collector that serves all sets, or otherwise one that may
 * take over this set.
 *
 * A collector is silent once the silence watch has flagged it, because the watch knows when the farm itself was
 * unreachable: after an hour without a server, the first collector to call would otherwise get the sets of all
 * collectors that call a second later.
 */
export function servedSets(me: SetServer, ofTarget: readonly SetServer[]): ServedSets {
  const serving = ofTarget.filter(
    (peer) =>
      peer.name !== me.name &&
      peer.active &&
      peer.outOfDuty === null &&
      peer.lastHeartbeatAt !== null &&
      peer.toldSilentAt === null,
  );
  const served = new Set(serving.flatMap(({ set }) => (set === null ? [] : [set])));
  if (me.set === null) return { allBut: true, sets: [...served].toSorted((a, b) => a - b) };
  const everythingIsServed = serving.some(({ set }) => set === null);
  const free = everythingIsServed ? [] : me.mayTakeOver.filter((set) => !served.has(set));
  return { allBut: false, sets: [...new Set([me.set, ...free])] };
}
