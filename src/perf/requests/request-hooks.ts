import type { z } from "zod";
import type { ChangeToConfirm } from "#api/collector.ts";
import type { Tx } from "#db/db.ts";

/** Called for a request when its jobs have ended, in the transaction that ends it. */
export interface RequestHooks {
  /** Returns verdicts that need an independent rerun; called once, before confirming jobs exist. */
  changesToConfirm(tx: Tx, requestId: string): Promise<readonly z.infer<typeof ChangeToConfirm>[]>;
  /** Stores the comparison with its parent. Called once, after the request's state has changed. */
  makeReport(tx: Tx, requestId: string, now: Date): Promise<void>;
}

/** For tests and farms that compare nothing. */
export const noRequestHooks: RequestHooks = {
  changesToConfirm: async () => [],
  makeReport: async () => {},
};
