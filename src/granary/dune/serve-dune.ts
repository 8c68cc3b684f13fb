import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { removeLeftovers } from "#cas/temp-file.ts";
import { messageOf } from "#core/fault.ts";
import { inTime } from "#core/in-time.ts";
import type { Service } from "#core/service.ts";
import type { ToolAttachment, ToolPlace, Variables } from "../tool-plugin.ts";
import { buildDirectories } from "./build-directories.ts";
import { daemonEndpointFile, duneDatabase, duneSettings } from "./daemon-endpoint-file.ts";
import { type DaemonProxy, type DuneClient, startDaemonProxy } from "./daemon-proxy.ts";
import type { DuneBuild, DuneBuilds } from "./dune-builds.ts";
import {
  type DuneSession,
  type DuneSoFar,
  type DuneTally,
  type SessionParts,
  startDuneSession,
} from "./dune-session.ts";
import { type DuneStores, duneStores, makeRoots } from "./dune-store.ts";
import { gitKnowsCommit } from "./git-knows-commit.ts";
import { type IdleRunner, runWhenIdle } from "./run-when-idle.ts";
import { makeRuntimeDirectory } from "./runtime-directory.ts";
import { serveDuneClient, serveUnannouncedDune } from "./serve-dune-client.ts";
import { delayUntilRulesArrive, untilReady } from "./wait-for-rules.ts";

export interface DuneParts extends SessionParts {
  /** Starts builds for dune processes that were not announced. */
  readonly builds: DuneBuilds;
  /** The granary's own directory, which contains its socket and the endpoint files of builds. */
  readonly directory: string;
  /** The longest delay of dune's start while its results are in transfer. */
  readonly gateMs?: number;
  /** Whether dune replaces files that its store already has with links. */
  readonly deduplicate?: boolean;
  readonly perl?: string;
}

/** A build with a served dune. */
interface DuneAttachment extends ToolAttachment {
  learn(): Promise<DuneSoFar>;
  finish(): Promise<DuneTally>;
}

export interface DuneServer extends Service {
  /**
   * Attaches to a build that `grange exec` runs in a directory. Returns undefined when dune's cache is disabled or has
   * no directory. Disables the cache when dune would fail with it. Without Perl, dune uses only its store, which is
   * slower.
   */
  attach(build: DuneBuild, where: ToolPlace): Promise<DuneAttachment | undefined>;
  /** Takes the place of dune's daemon for all processes with these variables; returns false when it cannot. */
  stand(variables: Variables): Promise<boolean>;
}

/** A user does not notice this delay, and it is enough for a small project with a near farm. */
const defaultGateMs = 40;
/** The time limit for dune's last messages to arrive from the daemon proxy after its command has ended, in ms. */
const lastMessagesMs = 5_000;

export function serveDune(parts: DuneParts): DuneServer {
  const { directory, logger, builds, gateMs = defaultGateMs } = parts;
  const options = { logger, deduplicate: parts.deduplicate ?? false };
  const clientsServed = new Map<string, (client: DuneClient) => Promise<void>>();
  const underWay = new Set<Promise<void>>();
  const quiets = new Map<string, IdleRunner>();
  // Removes files that builds of an earlier, crashed granary left.
  const cleaned = rm(join(directory, "run"), { recursive: true, force: true }).catch(() => {});
  let proxy: Promise<DaemonProxy> | undefined;
  let isStopped = false;

  /** Dune processes that share a store also wait for each other's results. */
  function start(database: string, stores: DuneStores, build: DuneBuild): DuneSession {
    const made = quiets.get(database) ?? runWhenIdle();
    quiets.set(database, made);
    return startDuneSession(parts, stores, made, build);
  }

  function daemonProxy(): Promise<DaemonProxy> {
    proxy ??= startDaemonProxy({
      directory,
      ...(parts.perl !== undefined && { perl: parts.perl }),
      onClient(client) {
        const post = clientsServed.get(client.endpointFile);
        if (post === undefined) client.greet();
        const serving = (
          post?.(client) ?? serveDuneClient(client, options, async () => undefined).then(() => {})
        )
          .catch((reason: unknown) => {
            logger.warn(
              { reason: messageOf(reason) },
              "the connection of a dune failed before its end",
            );
          })
          .finally(() => underWay.delete(serving));
        underWay.add(serving);
      },
    }).then((started) => {
      // If the daemon proxy was killed or ran out of memory, the next build starts another.
      void started.lost.then(() => (proxy = undefined));
      return started;
    });
    return proxy;
  }

  async function hold(file: string, ms: number, post: (client: DuneClient) => Promise<void>) {
    const name = randomUUID();
    clientsServed.set(name, post);
    try {
      await (await daemonProxy()).hold(name, file, ms);
      return name;
    } catch (reason) {
      clientsServed.delete(name);
      logger.info({ reason: messageOf(reason) }, "dune runs without the granary's daemon");
      return undefined;
    }
  }

  return {
    async attach(build, { variables, directory: where, waits = false }) {
      const database = duneDatabase(variables);
      if (isStopped || database === undefined || variables["DUNE_CACHE"] === "disabled") return;
      if (!(await gitKnowsCommit(where, variables))) return withoutCache;
      const startedAtMs = Date.now();
      // The same problem also stops dune, whose error message is better.
      await makeRoots(database).catch(() => {});
      const stores = duneStores(database);
      void removeLeftovers(stores.v4.temp).catch(() => {});
      const session = start(database, stores, build);
      const reported = new Set<string>();
      const clients = new Set<Promise<void>>();
      const runtime = join(directory, "run", build.build.id);
      const endpointFile = daemonEndpointFile({ XDG_RUNTIME_DIR: runtime });
      await cleaned;
      await makeRuntimeDirectory(runtime, variables["XDG_RUNTIME_DIR"]).catch(() => {});
      const name =
        endpointFile &&
        (await hold(endpointFile, gateMs, async (client) => {
          if (waits) void delayUntilRulesArrive(session, client);
          else void session.prepared().then(() => client.greet());
          const served = serveDuneClient(client, options, async (buildDirectory) => {
            reported.add(buildDirectory);
            return session;
          }).then(() => session.left());
          clients.add(served);
          await served;
        }));
      return {
        settings: duneSettings(variables, name && runtime),
        prepared: (mostMs) => untilReady(session, mostMs),
        async learn() {
          await inTime(Promise.allSettled(clients), lastMessagesMs);
          const found = await buildDirectories(where, variables, startedAtMs);
          for (const one of new Set([...reported, ...found])) await session.learn(one);
          return session.soFar();
        },
        async finish() {
          if (name !== undefined) {
            (await proxy)?.drop(name);
            clientsServed.delete(name);
          }
          await rm(runtime, { recursive: true, force: true });
          return session.end();
        },
      };
    },

    async stand(variables) {
      const [file, database] = [daemonEndpointFile(variables), duneDatabase(variables)];
      if (isStopped || file === undefined || database === undefined) return false;
      const name = await hold(file, 0, (client) => {
        // The build of this dune is known only after the greeting.
        client.greet();
        return serveUnannouncedDune(client, options, builds, (build) =>
          start(database, duneStores(database), build),
        );
      });
      return name !== undefined;
    },

    async stop() {
      isStopped = true;
      await (await proxy?.catch(() => undefined))?.stop();
      await Promise.all(underWay);
    },
  };
}

const withoutCache: DuneAttachment = {
  settings: { DUNE_CACHE: "disabled" },
  learn: async () => ({ made: 0, used: 0 }),
  finish: async () => ({ given: 0, made: 0, used: 0, learnt: 0, refused: 0 }),
};
