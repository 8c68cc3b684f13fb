import type { Logger } from "pino";
import type { Clock } from "#core/clock.ts";
import type { MeasuringLock } from "#machine/measuring-lock.ts";
import type { CollectorOperations } from "./collector-operations.ts";
import type { CollectorConfig } from "./config.ts";
import type { LabConnection } from "./lab-connection.ts";
import type { LabContact } from "./lab-contact.ts";
import type { Memory } from "./saved-state.ts";
import type { Spool } from "./spool.ts";

/** The parts of a collector. */
export interface CollectorParts {
  readonly config: CollectorConfig;
  readonly lab: LabConnection;
  readonly bench: CollectorOperations;
  readonly spool: Spool;
  readonly memory: Memory;
  readonly lock: MeasuringLock;
  readonly contact: LabContact;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The signals for stopping. */
export interface Ending {
  /** When aborted, nothing new is started. */
  readonly wanted: AbortSignal;
  /** When aborted, running tests are killed. */
  readonly now: AbortSignal;
}
