import type { Logger } from "pino";
import type { Tracing } from "#tracing/tracing.ts";
import type { WorkerConfig } from "./config.ts";
import type { ActionExecutor } from "./execute-action.ts";
import type { FarmConnection } from "./farm-connection.ts";
import type { ResultReporter, WorkerIdentity } from "./report-results.ts";
import type { RetryWindow } from "./retry-window.ts";

/** The parts of an agent. */
export interface AgentParts {
  readonly config: WorkerConfig;
  readonly farm: FarmConnection;
  readonly identity: WorkerIdentity;
  readonly executor: ActionExecutor;
  readonly reporter: ResultReporter;
  readonly facilities: Readonly<Record<string, string>>;
  readonly retryWindow: RetryWindow;
  /** Whether the data directory is no longer the one that was opened. */
  readonly isReplaced: () => boolean;
  /** Returns the container images on the disk, by `imageKeyOf`, those used last first. */
  readonly images: () => Promise<readonly string[]>;
  readonly logger: Logger;
  /** Undefined without tracing. */
  readonly tracing?: Pick<Tracing, "record"> | undefined;
}
