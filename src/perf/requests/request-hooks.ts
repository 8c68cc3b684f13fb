import type { z } from "zod";
import type { Doubt } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";

/** Called for a request when its jobs have ended, in the transaction that ends it. */
export interface RequestHooks {
  /** Verdicts that want an independent rerun; asked once, before confirming jobs are there. */
  doubtsOf(tx: Tx, requestId: string): Promise<readonly z.infer<typeof Doubt>[]>;
  /** Keeps the comparison with its parent. Called once, after the request's state has changed. */
  makeReport(tx: Tx, requestId: string, now: Date): Promise<void>;
}

/** Where nothing is compared. */
export const noRequestHooks: RequestHooks = {
  doubtsOf: async () => [],
  makeReport: async () => {},
};
