/** The number of lanes. A claim checks each lane that has work, so their number limits its cost. */
const laneCount = 256;

/**
 * The lane of the top class, which shares turns with no other lane.
 *
 * The owner does not matter there. As the lowest number it comes first in the claim's index.
 */
export const topLane = -1;

/** The lane of executions for which no client waits; it comes after all others. */
export const lastLane = laneCount;

/** The lane in which a request waits. */
export function laneOf(request: {
  readonly project: string;
  readonly invocation: string;
  readonly top?: boolean;
  readonly last?: boolean;
}): number {
  if (request.last === true) return lastLane;
  return request.top === true ? topLane : fairLane(request.project, request.invocation);
}

/** The number under which an owner's turns are counted. */
export function ownerLaneOf({ owner = "" }: { readonly owner?: string | undefined }): number {
  return hashed(owner);
}

/**
 * The lane in which an invocation waits.
 *
 * Lanes take turns. With a separate queue for each invocation, a claim would become slower with every invocation;
 * hashing them onto a fixed number of lanes is McKenney's stochastic fairness queueing (1990). Two invocations in one
 * lane share its turns.
 */
function fairLane(project: string, invocation: string): number {
  return hashed(`${project}\n${invocation}`);
}

function hashed(name: string): number {
  // FNV-1a over UTF-16 units: short, and good enough to spread names.
  let hash = 0x811c9dc5;
  for (const char of name) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  // The low bits of FNV are the least mixed, hence the folding.
  return ((hash >>> 16) ^ (hash & 0xffff)) % laneCount;
}
