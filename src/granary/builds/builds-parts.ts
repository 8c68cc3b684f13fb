import type { Logger } from "pino";
import type { TransferLimits } from "#commit-index/order-transfer.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { UploadWhen } from "../config.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { PlanParts } from "./plan-prefetch.ts";

export interface BuildsParts {
  /** The granary's data directory, in which `builds` is created. */
  readonly directory: string;
  readonly store: GranaryStore;
  readonly farm: GranaryFarm;
  /** The farm's address, because version numbers of different farms cannot be compared. */
  readonly farmName?: string;
  /** Returns the digest of the environment in which the granary itself runs. */
  readonly ownEnvironment: () => Promise<string>;
  /** Drops a result from store and memory. Default: from the store only. */
  readonly forget?: (project: string, key: ResultKey) => Promise<void>;
  readonly outbox: Pick<Outbox, "addIndex" | "addReport" | "hold" | "sentBytes">;
  readonly changedSince: PlanParts["changedSince"];
  readonly limits: TransferLimits;
  /** The limit for prefetching; undefined: no limit. */
  readonly bytesPerSecond?: number | undefined;
  readonly upload: UploadWhen;
  readonly logger: Logger;
}
