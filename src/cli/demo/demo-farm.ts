import type { ApiClient } from "../api/api-client.ts";
import type { DemoRepository } from "../example/make-demo.ts";
import type { DemoTools } from "./demo-steps.ts";

/** The farm on which the demo runs, and the demo's project. */
export interface DemoFarm {
  readonly api: ApiClient;
  readonly url: string;
  readonly token: string | undefined;
  readonly ca: string | undefined;
  /** The version of this program. */
  readonly version: string;
  /** The directories of programs for jobs. */
  readonly path: string;
  readonly repository: DemoRepository;
  readonly tools: DemoTools;
  /** The folder of the demo in the farm's data directory. */
  readonly folder: string;
  /** Aborted when the demo must stop. */
  readonly stopping: AbortSignal;
  /** Starts the measuring process, and keeps it running until the farm stops; further calls do nothing. */
  startCollector(name: string, dataDir: string): void;
}
