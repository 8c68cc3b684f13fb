import type { Logger } from "pino";
import type { WorkerConfig } from "./config.ts";
import type { ActionExecutor } from "./execute-action.ts";
import type { FarmConnection } from "./farm-connection.ts";
import type { Patience } from "./patience.ts";
import type { ResultReporter, WorkerIdentity } from "./report-results.ts";

/** What an agent works with. */
export interface AgentParts {
  readonly config: WorkerConfig;
  readonly farm: FarmConnection;
  readonly identity: WorkerIdentity;
  readonly executor: ActionExecutor;
  readonly reporter: ResultReporter;
  readonly facilities: Readonly<Record<string, string>>;
  readonly patience: Patience;
  readonly logger: Logger;
}
