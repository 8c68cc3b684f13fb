import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import type { DuneClient } from "./daemon-proxy.ts";
import type { DuneBuild, DuneBuilds } from "./dune-builds.ts";
import { DuneReader, encodeDedup } from "./dune-protocol.ts";
import type { DuneSession } from "./dune-session.ts";

interface DuneClientOptions {
  readonly logger: Logger;
  readonly deduplicate: boolean;
}

/**
 * Receives the messages of one dune until it disconnects. `sessionFor` is called when dune has reported its build
 * directory. Never throws.
 */
export async function serveDuneClient(
  client: DuneClient,
  { logger, deduplicate }: DuneClientOptions,
  sessionFor: (buildDirectory: string) => Promise<DuneSession | undefined>,
): Promise<string | undefined> {
  const reader = new DuneReader();
  let buildDirectory: string | undefined;
  let session: DuneSession | undefined;
  let mayDeduplicate = false;
  try {
    for await (const bytes of client.bytes) {
      for (const message of reader.push(bytes)) {
        switch (message.kind) {
          case "set-build-root":
            buildDirectory = message.directory;
            session = await sessionFor(buildDirectory);
            break;
          case "set-repos":
            if (buildDirectory !== undefined)
              session?.repositories(buildDirectory, message.repositories);
            // dune accepts dedup messages from here on.
            mayDeduplicate = deduplicate;
            break;
          case "promote":
            if (buildDirectory !== undefined) {
              const onDuplicate = mayDeduplicate
                ? (file: Parameters<typeof encodeDedup>[0]) => client.send(encodeDedup(file))
                : undefined;
              session?.promoted(buildDirectory, message, onDuplicate);
            }
            break;
          case "promoted":
            session?.stored(message.key);
            break;
          case "hint":
            session?.hinted(message.keys);
            break;
          case "lang":
          case "unknown":
            break;
        }
      }
    }
  } catch (reason) {
    // dune may continue to build; its later messages are ignored.
    logger.warn({ reason: messageOf(reason) }, "a connection of dune sent an invalid message");
    try {
      for await (const _ of client.bytes);
    } catch {
      // dune has also disconnected.
    }
  }
  return buildDirectory;
}

/** dune writes its records after it has disconnected from its daemon, if there is anything new to write. */
const recordsWithinMs = 1_000;

/** Waits until dune's records are newer than its connection, or until the time limit has passed. */
async function recordsWritten(buildDirectory: string, sinceMs: number): Promise<void> {
  const until = Date.now() + recordsWithinMs;
  while (Date.now() < until) {
    const found = await stat(join(buildDirectory, ".db")).catch(() => undefined);
    if (found !== undefined && found.mtimeMs >= sinceMs) return;
    await rest(20);
  }
}

/**
 * Serves a dune that was not announced, from the message that names its build directory until it
 * ends.
 */
export async function serveUnannouncedDune(
  client: DuneClient,
  options: DuneClientOptions,
  builds: DuneBuilds,
  start: (build: DuneBuild) => DuneSession,
): Promise<void> {
  const sinceMs = Date.now();
  let started: { readonly build: DuneBuild; readonly session: DuneSession } | undefined;
  const directory = await serveDuneClient(client, options, async (buildDirectory) => {
    const build = await builds.start({ root: dirname(buildDirectory) });
    started = build && { build, session: start(build) };
    return started?.session;
  });
  if (started === undefined || directory === undefined) return;
  const { build, session } = started as { build: DuneBuild; session: DuneSession };
  try {
    await recordsWritten(directory, sinceMs);
    await session.learn(directory);
    await session.end();
  } finally {
    await builds.end(build);
  }
}
