/** What decides who serves a set, of a collector of some target. */
export interface SetServer {
  readonly name: string;
  /** Null: all sets. */
  readonly set: number | null;
  readonly mayTakeOver: readonly number[];
  readonly active: boolean;
  readonly outOfDuty: string | null;
  /** Null: it was never heard. */
  readonly lastHeartbeatAt: Date | null;
  /** When it was told of as silent. */
  readonly toldSilentAt: Date | null;
}

/** Of which sets a collector may take jobs: of these, or of all but these. */
export interface ServedSets {
  readonly allBut: boolean;
  readonly sets: readonly number[];
}

/**
 * Which sets fall to a collector, among those of its target.
 *
 * A set stays with who serves it, since figures of two machines cannot be compared. Only when that one is silent
 * or out of duty may others step in: who serves all sets, and else who may take this one over.
 *
 * Silent is whom the silence watch has told of, which knows when it was the farm that could not be reached: after
 * an hour without a server, the first who asks would else take the sets of all that ask a second later.
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
