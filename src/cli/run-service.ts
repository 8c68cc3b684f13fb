import { messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { readTracingVariables } from "#tracing/config.ts";
import { openTracing } from "#tracing/open-tracing.ts";
import type { Tracing } from "#tracing/tracing.ts";
import { exitCodes } from "./exit-code.ts";
import { type ProcessLogger, processLogger } from "./process-logger.ts";
import { stopRequest } from "./stop-request.ts";
import { builtVersion } from "./version-text.ts";

interface ServiceOptions {
  readonly kind: "server" | "worker" | "granary";
  /** Its name in the log; default: its kind. */
  readonly name?: string | undefined;
  readonly logLevel: string;
  readonly endWithParent?: boolean;
}

/** A service that may end by itself, with the reason: because it is finished, or because it cannot continue. */
type Ending = Service & { readonly over?: Promise<string>; readonly failed?: Promise<string> };

/**
 * Runs a server or a worker until it is stopped or ends, and ends the process.
 *
 * `start` returns the service and the line that announces it. The exit code is 1 when it could not start; then a line
 * with the reason is printed instead. An unhandled error ends it, too, and is logged.
 */
export async function runService<Started extends Ending>(
  options: ServiceOptions,
  start: (
    logger: ProcessLogger["logger"],
    /** Undefined unless the variables of OpenTelemetry ask for it. */
    tracing: Tracing | undefined,
  ) => Promise<Started>,
  ready: (started: Started) => object,
): Promise<never> {
  const wanted = stopRequest(options.endWithParent === true);
  const { logger, flush } = processLogger(options.logLevel, options.name ?? options.kind);
  const end = (exitCode: number): never => {
    flush();
    process.exit(exitCode);
  };
  for (const event of ["uncaughtException", "unhandledRejection"] as const)
    process.once(event, (reason) => {
      logger.fatal({ err: reason }, "an unhandled error; stopping");
      end(exitCodes.failed);
    });
  let started: Started;
  let tracing: Tracing | undefined;
  try {
    const about = { service: `grange-${options.kind}`, version: builtVersion, logger };
    tracing = await openTracing(about, readTracingVariables());
    started = await start(logger, tracing);
  } catch (reason) {
    logger.fatal({ err: reason }, "could not start");
    say({ ready: false, error: { message: messageOf(reason) } });
    return end(exitCodes.failed);
  }
  say({ ready: true, ...ready(started) });
  const never = new Promise<never>(() => {});
  const failed = (started.failed ?? never).then((why) => ({ why, exitCode: exitCodes.failed }));
  const done = Promise.race([wanted.received, started.over ?? never]);
  const { why, exitCode } = await Promise.race([
    failed,
    done.then((why) => ({ why, exitCode: exitCodes.ok })),
  ]);
  logger[exitCode === exitCodes.ok ? "info" : "fatal"]({ why }, "stopping");
  try {
    await started.stop();
    await tracing?.stop();
  } catch (reason) {
    logger.error({ err: reason }, "did not stop cleanly");
    return end(exitCodes.failed);
  }
  return end(exitCode);
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
