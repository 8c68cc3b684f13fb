import { resolve } from "node:path";
import type { Describe } from "../command-list.ts";
import { repeated, speaksToServer, withExamples } from "../common-options.ts";
import { runService } from "../run-service.ts";
import { wholeNumber } from "../whole-number.ts";

interface WorkerOptions {
  readonly server?: string;
  readonly name?: string;
  readonly data?: string;
  readonly slots?: number;
  readonly sizeClass?: number;
  readonly hide?: readonly string[];
  readonly logLevel: string;
  readonly endWithParent?: boolean;
}

/** A child of `grange up` must be gone two seconds after Ctrl-C; others may finish what they do. */
const hurry = { drainMs: 500, killGraceMs: 1_000 };

export const describeWorker: Describe = (command, program) => {
  speaksToServer(command)
    .option("--name <name>", "unique in the farm (GRANGE_WORKER_NAME; default: the host's name)")
    .option("--data <dir>", "where it keeps its store and scratch space (GRANGE_WORKER_DATA)")
    .option("--slots <n>", "how many jobs at a time (GRANGE_WORKER_SLOTS)", wholeNumber)
    .option(
      "--size-class <n>",
      "its size relative to others (GRANGE_WORKER_SIZE_CLASS)",
      wholeNumber,
    )
    .option("--hide <dir>", "a directory that jobs do not see; may be repeated", repeated)
    .option("--log-level <level>", "trace, debug, info, warn, error or silent", "info")
    .addOption(command.createOption("--end-with-parent").hideHelp())
    .action((options: WorkerOptions) => work(options, program.version));
  withExamples(command, [
    ["one more worker for the farm on this machine", "worker --name spare"],
    ["four jobs at a time for a farm elsewhere", "worker --server http://farm:8980 --slots 4"],
  ]);
};

async function work(options: WorkerOptions, version: string): Promise<never> {
  const { readWorkerConfig } = await import("#worker/config.ts");
  const { startWorker } = await import("#worker/start-worker.ts");
  return runService(
    { name: "worker", ...options },
    async (logger) => {
      const config = readWorkerConfig({
        version,
        ...(options.server === undefined ? {} : { server: options.server }),
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.data === undefined ? {} : { dataDir: resolve(options.data) }),
        ...(options.slots === undefined ? {} : { slots: options.slots }),
        ...(options.sizeClass === undefined ? {} : { sizeClass: options.sizeClass }),
        ...(options.hide === undefined
          ? {}
          : { hiddenPaths: options.hide.map((dir) => resolve(dir)) }),
        ...(options.endWithParent === true ? hurry : {}),
      });
      return startWorker(config, logger);
    },
    () => ({}),
  );
}
