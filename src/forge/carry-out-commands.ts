import { Fault, messageOf } from "#core/fault.ts";
import { endCommand, leaseCommand, postponeCommand } from "./command.store.ts";
import { carryOutCommand } from "./commands/carry-out.ts";
import { type ForgeServices, forgeFor } from "./forge-services.ts";
import { tryAgainInMs } from "./when-to-try-again.ts";

/** In ms. Starting a measurement may fetch commits and query npm. */
const leaseMs = 2 * 60_000;

/** Carries out the command that waited longest. Returns false when no command waits. */
export async function carryOutNext(services: ForgeServices): Promise<boolean> {
  const { db, clock, chance, logger, service, forges } = services;
  const now = clock.now();
  const until = new Date(now.getTime() + leaseMs);
  const command = await db.transaction((tx) => leaseCommand(tx, now, until));
  if (command === undefined) return false;
  try {
    const ended = await carryOutCommand(
      { db, clock, service, forgeFor: ({ kind }) => forgeFor(forges, kind) },
      command,
    );
    if (await endCommand(db, command, ended)) return true;
    throw new Fault("aborted", "another server carries out this command");
  } catch (reason) {
    const error = messageOf(reason);
    const { repository, id: comment } = command;
    logger.warn({ repository, comment, reason: error }, "a command waits for another try");
    const waitMs = tryAgainInMs(command.attempts, reason, chance());
    await postponeCommand(db, command, error, new Date(clock.now().getTime() + waitMs));
  }
  return true;
}
