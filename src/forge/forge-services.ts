import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import { Fault } from "#core/fault.ts";
import type { Db } from "#db/db.ts";
import type { FarmPort } from "./farm-port.ts";
import type { Forge } from "./forge.ts";
import type { ForgeTimes } from "./forge-times.ts";
import type { Holding } from "./holding.store.ts";
import type { WatchedRepository } from "./repository.store.ts";

/** The forges that this farm knows. */
export interface Forges {
  readonly git: Forge;
  /** Only with a GitHub App. */
  readonly github?: Forge | undefined;
}

/** What everything that watches repositories has at hand. */
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

/** A repository that we hold, and where it lies. */
export interface Held {
  readonly repository: WatchedRepository;
  readonly forge: Forge;
  readonly holding: Holding;
  /** Aborted when somebody else may have it, or when we stop. */
  readonly signal: AbortSignal;
}

export function forgeFor({ github, git }: Forges, kind: WatchedRepository["kind"]): Forge {
  const forge = kind === "github" ? github : git;
  if (forge !== undefined) return forge;
  throw new Fault(
    "failed_precondition",
    "this farm has no GitHub App: give the server GRANGE_GITHUB_APP_ID, GRANGE_GITHUB_APP_KEY and GRANGE_GITHUB_WEBHOOK_SECRET (docs/forge.md says how to make one)",
  );
}
