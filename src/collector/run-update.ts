import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";

/** What an operator wants done before the next version starts. Whether it helps shows itself then. */
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
