import { resolve } from "node:path";
import type { CollectorConfig } from "#collector/config.ts";
import { messageOf } from "#core/fault.ts";
import { isLoopback } from "#core/host-guard.ts";
import type { ApiClient } from "../api/api-client.ts";
import { type ExitCode, exitCodes } from "../exit-code.ts";
import { processLogger } from "../process-logger.ts";
import { UsageError } from "../usage-error.ts";
import { labConnection } from "./lab-connection.ts";

export interface RunOptions {
  readonly dataDir?: string;
  readonly artifactLimit?: number;
  readonly refuseLoad?: boolean;
  readonly flagLoad?: boolean;
  readonly sandbox?: "auto" | "bubblewrap" | "none";
  /** False by `--no-self-test`. */
  readonly selfTest?: boolean;
  readonly selfTestAt?: number;
  readonly comparisons?: number;
  readonly updateCommand?: string;
  readonly anyTarget?: boolean;
  /** Return the work when the pipe on stdin closes, because the process is a child of `grange up`. */
  readonly endWithParent?: boolean;
  readonly logLevel: string;
}

export async function collectorConfig(
  name: string,
  options: RunOptions,
  version: string,
  serverUrl: string,
): Promise<CollectorConfig> {
  if (options.refuseLoad === true && options.flagLoad === true)
    throw new UsageError("--refuse-load and --flag-load contradict each other");
  const { readCollectorConfig } = await import("#collector/config.ts");
  const onLoad: CollectorConfig["onLoad"] =
    options.refuseLoad === true ? "refuse" : options.flagLoad === true ? "flag" : "wait";
  const farm = { isOnThisMachine: isLoopback(new URL(serverUrl).hostname) };
  const given = {
    name,
    version,
    onLoad,
    dataDir: options.dataDir === undefined ? undefined : resolve(options.dataDir),
    artifactLimitBytes: options.artifactLimit,
    sandbox: options.sandbox,
    selfTest: options.selfTest,
    selfTestAt: options.selfTestAt,
    selfTestComparisons: options.comparisons,
    updateCommand: options.updateCommand,
    anyTarget: options.anyTarget,
  };
  return readCollectorConfig(given, farm);
}

/**
 * Runs a collector until it is stopped or ends by itself, and ends the process. After the first signal it returns its
 * work; after the second it does not wait for that; the third ends the process at once.
 */
export async function runCollector(
  config: CollectorConfig,
  api: ApiClient,
  { logLevel, endWithParent = false }: Pick<RunOptions, "logLevel" | "endWithParent">,
): Promise<never> {
  const { logger, flush } = processLogger(logLevel, "collector");
  const { startCollector } = await import("#collector/start-collector.ts");
  const { runUpdateCommand } = await import("#collector/run-update.ts");
  const end = (exitCode: ExitCode): never => {
    flush();
    process.exit(exitCode);
  };
  let stop: (() => void) | undefined;
  let times = 0;
  const stopped = new Promise<undefined>((resolveTold) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        times += 1;
        if (times > 2) process.exit(exitCodes.failed);
        if (times === 2) stop?.();
        resolveTold(undefined);
      });
    }
    if (endWithParent) {
      const gone = () => resolveTold(undefined);
      process.stdin.on("end", gone).on("error", gone).resume();
    }
  });
  try {
    const running = await startCollector(config, labConnection(api, config.name), logger);
    process.stdout.write(`${JSON.stringify({ ready: true, dataDir: config.dataDir })}\n`);
    stop = () => void running.stop();
    const over = await Promise.race([stopped, running.over]);
    logger.info({ why: over?.why ?? "a signal, or the end of its parent" }, "stopping");
    await running.stop();
    if (over === undefined) return end(exitCodes.ok);
    if (over.kind !== "update") {
      logger.fatal(over.why);
      return end(exitCodes.failed);
    }
    if (config.updateCommand !== undefined) await runUpdateCommand(config.updateCommand, logger);
    return end(exitCodes.update);
  } catch (reason) {
    logger.fatal({ err: reason }, "could not continue");
    const error = { message: messageOf(reason) };
    process.stdout.write(`${JSON.stringify({ ready: false, error })}\n`);
    return end(exitCodes.failed);
  }
}
