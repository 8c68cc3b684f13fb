import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";

/** Runs the operator's command before the next version starts. The effect is visible after that start. */
export async function runUpdateCommand(command: string, logger: Logger): Promise<void> {
  logger.info({ command }, "runs the update command");
  const child = spawn("/bin/sh", ["-c", command], { stdio: ["ignore", "inherit", "inherit"] });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) logger.error({ code }, "the update command failed");
  } catch (reason) {
    logger.error({ reason: messageOf(reason) }, "the update command cannot be run");
  }
}
