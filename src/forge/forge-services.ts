import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { FarmPort } from "./farm-port.ts";
import type { Forge } from "./forge.ts";
import type { ForgeKind } from "./forge-kind.ts";
import { forgeKinds } from "./forge-kinds.ts";
import type { ForgeTimes } from "./forge-times.ts";
import type { Holding } from "./holding.store.ts";
import type { WatchedRepository } from "./repository.store.ts";

/** The forges of this farm, at most one of each kind. */
export type Forges = readonly Forge[];

/** The services for code that watches repositories. */
export interface ForgeServices {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly service: FarmPort;
  readonly forges: Forges;
  readonly times: ForgeTimes;
  /** In [0, 1): for waiting times. */
  readonly chance: () => number;
}

/** A repository that this server holds, with its place. */
export interface Held {
  readonly repository: WatchedRepository;
  readonly forge: Forge;
  readonly holding: Holding;
  /** Aborted when another server may hold it, or when this one stops. */
  readonly signal: AbortSignal;
}

/**
 * Returns the forge of a kind. Throws `failed_precondition` when this farm has none, and `invalid_argument` when there
 * is no such kind.
 */
export function forgeFor(forges: Forges, kind: string): Forge {
  const forge = forges.find((each) => each.kind === kind);
  if (forge !== undefined) return forge;
  const known = forgeKinds.find((each) => each.kind === kind);
  if (known !== undefined) throw missing([known]);
  const kinds = forgeKinds.map((each) => each.kind).join(" or ");
  throw new Fault(
    "invalid_argument",
    `${JSON.stringify(kind)} is not a kind of forge: use ${kinds}`,
  );
}

/** Returns the fault that explains how to set up forges of these kinds. */
export function missing(kinds: readonly ForgeKind[]): Fault {
  const sentences = kinds.flatMap(({ settings }) => settings?.missing ?? []);
  return new Fault("failed_precondition", sentences.join("; "));
}
