import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import type { FarmDesk } from "../farm-desk.ts";

/** What carrying out commands needs. */
export interface CommandDesk {
  readonly db: Db;
  readonly clock: Clock;
  readonly desk: FarmDesk;
  /** How comments address the farm: `@grange`. */
  readonly name?: string | undefined;
}
