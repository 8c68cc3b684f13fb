import type { Logger } from "pino";
import type { TransferLimits } from "#commit-index/order-transfer.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { UploadWhen } from "../config.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { Outbox } from "../outbox/outbox.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import type { PlanParts } from "./plan-ahead.ts";

export interface BuildsParts {
  /** The granary's data directory: `builds` is made in it. */
  readonly directory: string;
  readonly store: GranaryStore;
  readonly farm: GranaryFarm;
  /** The farm's address: what is known of one farm's versions says nothing of another's. */
  readonly farmName?: string;
  /** The name of the environment that the granary itself runs in. */
  readonly ownEnvironment: () => Promise<string>;
  /** Drops a result wherever it is held; the store's own where nothing else holds any. */
  readonly forget?: (project: string, key: ResultKey) => Promise<void>;
  readonly outbox: Pick<Outbox, "addIndex" | "addReport" | "hold" | "sentBytes">;
  readonly changedSince: PlanParts["changedSince"];
  readonly limits: TransferLimits;
  /** Of the line, for fetching ahead; undefined: all of it. */
  readonly bytesPerSecond?: number | undefined;
  readonly upload: UploadWhen;
  readonly logger: Logger;
}
