import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import { openDiskUploads } from "#cas/disk/disk-uploads.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import { openGit } from "#git/run-git.ts";
import { takeLock, untilLost } from "#machine/holder-lock.ts";
import { makeDirectory, makePrivateDirectory } from "#machine/make-directory.ts";
import type { Tracing } from "#tracing/tracing.ts";
import { prepareDigests, startWarmUp, trimRegularly } from "./background-work.ts";
import { openBuilds } from "./builds/open-builds.ts";
import { endpointPath, type GranaryConfig, lockPath, ownVariables } from "./config.ts";
import { writeEndpoint } from "./endpoint.ts";
import { connectGranaryFarm } from "./farm/connect-granary-farm.ts";
import { noFarm } from "./farm/no-farm.ts";
import { openFront } from "./front/listen.ts";
import { noOutbox } from "./outbox/no-outbox.ts";
import { type OpenOutbox, openOutbox } from "./outbox/open-outbox.ts";
import { ownEnvironment } from "./own-environment.ts";
import { outboxAnswer } from "./protocol/conversation.ts";
import { changedSince, readFacts, readNested } from "./protocol/read-facts.ts";
import { resultHandlers } from "./protocol/result-handlers.ts";
import { serveProtocol } from "./protocol/serve-protocol.ts";
import type { DiskTrouble } from "./store/disk-trouble.ts";
import type { GranaryUsage } from "./store/granary-store.ts";
import { openGranaryStore } from "./store/open-granary-store.ts";
import { smallAtOnce } from "./store/small-uploads.ts";
import { openTieredCache } from "./tiered-cache/open-tiered-cache.ts";
import { toolPlugins } from "./tool-plugins.ts";
import { openKnownDigests } from "./workspace/known-digests.ts";

interface RunningGranary extends Service {
  readonly port: number;
  readonly socketPath: string;
  /** Resolves with the reason when a client requested the end. */
  readonly over: Promise<string>;
  /** Resolves with the reason when it must stop because of a failure. */
  readonly failed: Promise<string>;
}

/** The same limit as in the farm's caches. */
const mostEntryBytes = 2 * 1024 ** 3;
/** The most prefetched bytes of one build: more is no longer a prediction of a build. */
const mostPrefetchBytes = 4 * 1024 ** 3;
const mostPrefetchResults = 100_000;
/** Directories with results of builds and information about them. */
const closedFolders = [
  "packs",
  "blobs",
  "temp",
  "outbox",
  "uploads",
  "git",
  "builds",
  "workspaces",
];

/**
 * Starts a machine's granary: one for each data directory.
 *
 * The parts are opened in the order of their dependencies and stopped in reverse; when one cannot be opened, those
 * before it are stopped.
 */
export async function startGranary(
  config: GranaryConfig,
  logger: Logger,
  tracing?: Tracing,
): Promise<RunningGranary> {
  const { dataDirectory, socketPath, limitBytes } = config;
  const opened: Service[] = [];
  const keep = <T extends Service>(service: T): T => {
    opened.push(service);
    return service;
  };
  let isStopped: Promise<void> | undefined;
  const stop = () => {
    isStopped ??= stopAll(opened, logger);
    return isStopped;
  };

  try {
    makeDirectory(dataDirectory, 0o700);
    // In a directory that the user created, only the directories with contents are closed to others.
    for (const name of closedFolders) makePrivateDirectory(join(dataDirectory, name));
  } catch (cause) {
    const message = `the data directory ${dataDirectory} cannot be made (${messageOf(cause)}); choose another with --data`;
    throw new Fault("failed_precondition", message, { cause });
  }
  const taken = await takeLock(lockPath(config), "grange granary");
  if ("holder" in taken) {
    const { where } = taken.holder;
    throw new Fault(
      "already_exists",
      `a granary runs on ${dataDirectory} already (${where}); \`grange granary stop\` ends it`,
    );
  }
  opened.push({ stop: () => taken.lock.release() });

  try {
    const git = keep(await openGit(join(dataDirectory, "git")));
    const digests = await openKnownDigests(dataDirectory);
    keep(prepareDigests(digests));
    const connected = config.farm && keep(connectGranaryFarm(config.farm, logger));
    const farm = connected ?? noFarm();
    void connected?.greet();
    let outbox: Pick<OpenOutbox, "isHeld"> | undefined;
    const store = keep(
      await openGranaryStore({
        directory: dataDirectory,
        limitBytes,
        trustDisk: config.trustDisk,
        logger,
        isHeld: (digest) => outbox?.isHeld(digest) ?? false,
      }),
    );
    const waiting = keep(
      connected === undefined
        ? noOutbox()
        : await openOutbox({
            directory: dataDirectory,
            farm,
            blobs: store.blobs,
            logger,
            mostHeldBytes: limitBytes / 2,
            ...(config.bytesPerSecond === undefined
              ? {}
              : { bytesPerSecond: config.bytesPerSecond }),
          }),
    );
    outbox = waiting;
    const tieredCache = keep(
      openTieredCache({
        store,
        outbox: waiting,
        farm,
        crossCheckShare: config.crossCheckShare,
        machine: hostname(),
        logger,
      }),
    );
    const builds = keep(
      await openBuilds({
        directory: dataDirectory,
        store,
        farm,
        farmName: config.farm?.server ?? "",
        forget: (project, key) => tieredCache.forget({ project, build: undefined }, key),
        outbox: waiting,
        ownEnvironment: ownEnvironment(digests),
        changedSince: (facts, commit, signal) => changedSince(git, facts, commit, signal),
        limits: {
          bytes: Math.min(mostPrefetchBytes, limitBytes / 2),
          results: mostPrefetchResults,
        },
        bytesPerSecond: config.bytesPerSecond,
        upload: config.upload,
        logger,
      }),
    );
    const tools = toolPlugins.map((plugin) => {
      const server = keep(
        plugin.serve({
          store,
          place: store.placeAt,
          tieredCache,
          logger,
          directory: dataDirectory,
          readNested: (repositories) => readNested(git, repositories),
          builds: {
            async start(of) {
              const facts = await readFacts({ git, digests }, { type: "build-started", ...of });
              return builds.start(facts);
            },
            async end(id) {
              await builds.end(id, { exitCode: null, complete: false });
            },
          },
        }),
      );
      return { tool: plugin.tool, server };
    });
    for (const { tool, server } of tools) {
      if (!config.standsInFor.includes(tool) || (await server.stand(ownVariables()))) continue;
      logger.warn(
        `this granary cannot replace ${tool}'s daemon on this machine; ${tool} runs without it`,
      );
    }
    const onDisk = await openDiskUploads(dataDirectory, store.blobs);
    const uploads = smallAtOnce(onDisk, store.blobs);
    const front = keep(
      await openFront({
        port: config.port,
        tieredCache,
        store,
        uploads,
        builds,
        relay: connected?.relay,
        mostEntryBytes,
        logger,
        tracing,
      }),
    );
    let requestStop = (_why: string) => {};
    const over = new Promise<string>((resolve) => {
      requestStop = resolve;
    });
    const secret = randomBytes(24).toString("base64url");
    const protocol = keep(
      await serveProtocol({
        socketPath,
        secret,
        toolsPort: front.port,
        builds,
        results: resultHandlers({ tieredCache, store, mostFileBytes: mostEntryBytes }),
        outbox: waiting,
        attachTool: async (build, tool, where) =>
          tools.find((each) => each.tool === tool)?.server.attach(build, where),
        readFacts: (said) => readFacts({ git, digests }, said),
        async status() {
          const line = farm.line();
          const because = farm.awayBecause?.();
          const away = { away: farm.isAway(), ...(because === undefined ? {} : { because }) };
          return {
            version: config.version,
            pid: process.pid,
            port: front.port,
            directory: dataDirectory,
            farm:
              config.farm === undefined ? null : { server: config.farm.server, ...away, ...line },
            store: storeAnswer(await store.usage(), store.diskTrouble()),
            outbox: outboxAnswer(waiting.state()),
            builds: builds.running().map(({ id, project, facts, startedAt }) => ({
              id,
              project,
              command: facts.command,
              startedAt: startedAt.toISOString(),
            })),
          };
        },
        trim: () => store.trim("asked"),
        onStopRequested: () => requestStop("a client requested it"),
        logger,
      }),
    );
    keep(trimRegularly(() => store.trim(), logger));
    const endpoint = endpointPath(config);
    await writeEndpoint(endpoint, {
      version: config.version,
      pid: process.pid,
      port: front.port,
      protocolPort: protocol.port,
      socket: socketPath,
      secret,
    });
    opened.push({ stop: () => rm(endpoint, { force: true }) });
    if (connected !== undefined) keep(startWarmUp());
    const failed = untilLost(taken.lock.lost, `the data directory ${dataDirectory}`);
    return { port: front.port, socketPath, over, failed, stop };
  } catch (reason) {
    await stop();
    throw reason;
  }
}

function storeAnswer(usage: GranaryUsage, trouble: DiskTrouble | undefined) {
  if (trouble === undefined) return usage;
  return { ...usage, diskTrouble: { ...trouble, lastAt: trouble.lastAt.toISOString() } };
}

/** Stops the last opened first. A failure does not prevent the others. */
async function stopAll(opened: Service[], logger: Logger): Promise<void> {
  for (let service = opened.pop(); service !== undefined; service = opened.pop()) {
    await service.stop().catch((reason: unknown) => {
      logger.warn({ err: reason }, "a part of the granary did not stop cleanly");
    });
  }
}
