import type { Clock } from "#core/clock.ts";
import type { Db } from "#db/db.ts";
import type { FarmPort } from "../farm-port.ts";

/** Everything needed to carry out commands. */
export interface CommandService {
  readonly db: Db;
  readonly clock: Clock;
  readonly service: FarmPort;
  /** The name by which comments address the farm: `@grange`. */
  readonly name?: string | undefined;
}
