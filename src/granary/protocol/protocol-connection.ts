import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import type { GranaryBuildReport } from "#api/granary.ts";
import { otherKeys } from "#api/other-keys.ts";
import { messageOf } from "#core/fault.ts";
import type { BuildFacts } from "../builds/build-facts.ts";
import type { Builds } from "../builds/open-builds.ts";
import type { BuildEnd } from "../builds/publish-build.ts";
import type { RunningBuild } from "../builds/start-build.ts";
import type { DuneAttachment, DunePlace } from "../dune/serve-dune.ts";
import { keyInEnvironment } from "../key-in-environment.ts";
import type { Outbox, OutboxState } from "../outbox/outbox.ts";
import type { Trimmed } from "../store/granary-store.ts";
import type { Answer, EndSummary, GranaryStatus } from "./answers.ts";
import type { EndingBuilds } from "./ending-builds.ts";
import { lineReader, mostLineBytes } from "./line-reader.ts";
import { type BuildStarted, type Message, readMessage } from "./messages.ts";
import { type Effect, initialState, type ProtocolState, receive } from "./protocol-state.ts";
import type { ResultHandlers } from "./result-handlers.ts";

export interface ProtocolConnectionParts {
  /** Shared by all connections. */
  readonly endingBuilds: EndingBuilds;
  /** The port of the build tools' protocols. */
  readonly toolsPort: number;
  readonly builds: Builds;
  readonly results: ResultHandlers;
  readonly outbox: Pick<Outbox, "drained">;
  /** Returns undefined where dune is not served or the build does not use it. */
  readonly attachDune: (
    build: RunningBuild,
    where: DunePlace,
  ) => Promise<DuneAttachment | undefined>;
  readonly readFacts: (said: BuildStarted | Message<"fetch-ahead">) => Promise<BuildFacts>;
  readonly status: () => Promise<GranaryStatus>;
  readonly trim: () => Promise<Trimmed>;
  readonly onStopRequested: () => void;
  readonly logger: Logger;
}

/** The most effects of one connection in progress. Reading pauses at this number. */
const mostUnderWay = 128;
/** A peer that leaves this many bytes of answers unread is disconnected. */
const mostUnsentBytes = 16 * 1024 * 1024;
/** A peer that sends no `hello` within this time is disconnected. */
const silentMs = 10_000;

export interface ProtocolConnection {
  readonly over: Promise<void>;
  end(): void;
}

/** One conversation: what `receive` says is to be done is done here. */
export function startProtocolConnection(
  parts: ProtocolConnectionParts,
  socket: Socket,
  secret: string | undefined,
): ProtocolConnection {
  const { logger } = parts;
  const read = lineReader(mostLineBytes);
  const underWay = new Set<Promise<void>>();
  let state: ProtocolState = initialState(secret);
  let build: RunningBuild | undefined;
  let dune: DuneAttachment | undefined;
  // Starts and ends happen in the order of their messages; everything else runs concurrently.
  let inOrder: Promise<void> = Promise.resolve();
  let isOver = false;
  let tellOver = () => {};
  const over = new Promise<void>((resolve) => {
    tellOver = resolve;
  });
  const silence = setTimeout(() => state.kind === "new" && socket.destroy(), silentMs);
  silence.unref();

  const send = (answer: Answer) => {
    if (socket.destroyed || !socket.writable) return;
    socket.write(`${JSON.stringify(answer)}\n`);
    if (socket.writableLength > mostUnsentBytes) socket.destroy();
  };

  const track = (work: Promise<void>) => {
    const done: Promise<void> = work
      .catch((reason: unknown) => {
        logger.warn({ err: reason }, "a build system's message came to nothing");
        send({ type: "note", note: messageOf(reason).slice(0, 500) });
      })
      .finally(() => {
        underWay.delete(done);
        if (underWay.size < mostUnderWay && socket.isPaused()) socket.resume();
      });
    underWay.add(done);
    if (underWay.size >= mostUnderWay) socket.pause();
    return done;
  };

  /** dune does not report hits. What it used is read from its files after it has exited, and the client waits for that only on request. */
  async function endBuild(message: Message<"build-ended"> | undefined): Promise<void> {
    const [ended, attached] = [build, dune];
    build = undefined;
    dune = undefined;
    const how = {
      exitCode: message?.exitCode ?? null,
      complete: message?.complete ?? false,
      overAt: performance.now(),
    };
    await ended?.prefetch.stop();
    const used = await attached?.learn().catch((reason: unknown) => {
      logger.warn({ err: reason }, "what dune used in a build is not known");
    });
    if (used && message !== undefined && message.sync !== true) {
      send({ type: "ended", to: message.id, report: null, dune: used });
      // Lets the answer leave before other work begins.
      await nextTurn();
      return parts.endingBuilds.add(report(ended, attached, how));
    }
    const told = await report(ended, attached, how);
    if (message === undefined) return;
    if (message.sync) await parts.endingBuilds.over();
    const outbox = message.sync ? await parts.outbox.drained() : undefined;
    send({
      type: "ended",
      to: message.id,
      report: told === undefined ? null : summaryOf(told),
      ...(outbox === undefined ? {} : { outbox: outboxAnswer(outbox) }),
    });
  }

  async function report(
    ended: RunningBuild | undefined,
    attached: DuneAttachment | undefined,
    how: BuildEnd,
  ): Promise<GranaryBuildReport | undefined> {
    await attached?.finish().catch((reason: unknown) => {
      logger.warn({ err: reason }, "what dune made in a build is not kept");
    });
    return ended && parts.builds.end(ended.id, how);
  }

  /** The message has the tools' own keys; results are fetched under the keys of the build's environment. */
  function hint(keys: Message<"hint">["keys"]): void {
    const [running, environment] = [build, build?.environment];
    if (environment === undefined) return;
    running?.prefetch.hint(keys.map((key) => keyInEnvironment(environment, key)));
  }

  async function startBuild(message: BuildStarted): Promise<void> {
    const facts = await parts.readFacts(message).catch((reason: unknown) => {
      send({ type: "note", to: message.id, note: messageOf(reason).slice(0, 500) });
    });
    if (!facts) return;
    const started = await parts.builds.start(facts);
    build = started;
    if (message.dune !== undefined) {
      // A client that names its own wait is not delayed again when dune connects.
      const where = { ...message.dune, waits: message.waitMs === undefined };
      dune = await parts.attachDune(started, where).catch((reason: unknown) => {
        logger.info({ why: messageOf(reason) }, "dune builds without us");
        return undefined;
      });
    }
    const { waitMs = 0 } = message;
    const ready = waitMs === 0 ? "late" : await started.ready(waitMs, dune?.prepared?.(waitMs));
    send({
      type: "build",
      to: message.id,
      id: started.id,
      project: started.project,
      port: parts.toolsPort,
      pid: process.pid,
      http: `http://127.0.0.1:${parts.toolsPort}/build/${started.id}`,
      grpc: `grpc://127.0.0.1:${parts.toolsPort}`,
      ready: ready === "ready",
      environment: started.environment,
      ...(dune === undefined ? {} : { settings: { ...dune.settings } }),
    });
  }

  async function carryOut({ message }: Effect & { kind: "carry-out" }): Promise<void> {
    switch (message.type) {
      case "hint":
        return hint(message.keys);
      case "approximation":
        if (build !== undefined) await parts.results.approximate(build, message);
        return;
      case "look-up":
        if (build !== undefined) send(await parts.results.lookUp(build, message));
        return;
      case "result":
        if (build !== undefined) send(await parts.results.keep(build, message));
        return;
      case "status":
        return send({ type: "status", to: message.id, status: await parts.status() });
      case "report":
        await parts.endingBuilds.over();
        return send(reported(message, await parts.builds.lastReports()));
      case "trim":
        return send({ type: "trimmed", to: message.id, ...(await parts.trim()) });
      case "stop":
        send({ type: "stopping", to: message.id });
        return parts.onStopRequested();
      case "fetch-ahead": {
        const facts = await parts.readFacts(message);
        const ahead = await parts.builds.fetchAhead(facts, message.dryRun);
        return send({ type: "fetching", to: message.id, ahead });
      }
    }
  }

  function act(effect: Effect): void {
    switch (effect.kind) {
      case "send":
        inOrder = inOrder.then(() => send(effect.answer));
        return;
      case "start":
        inOrder = track(inOrder.then(() => startBuild(effect.message)));
        return;
      case "end": {
        // What was said before the end is done before it.
        const before = [...underWay];
        inOrder = track(
          inOrder.then(() => Promise.allSettled(before)).then(() => endBuild(effect.message)),
        );
        return;
      }
      case "carry-out": {
        const started = inOrder;
        void track(started.then(() => carryOut(effect)));
        return;
      }
      case "close": {
        const before = [...underWay];
        inOrder = inOrder.then(() => Promise.allSettled(before)).then(() => void socket.end());
        return;
      }
    }
  }

  const step = (parsedLine: Parameters<typeof receive>[1]) => {
    const { next, effects } = receive(state, parsedLine);
    state = next;
    for (const effect of effects) act(effect);
  };

  function gone(): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(silence);
    step(undefined);
    void inOrder
      .then(() => Promise.allSettled(underWay))
      .then(() => endBuild(undefined))
      .catch((reason: unknown) => logger.warn({ err: reason }, "a build did not end well"))
      .finally(tellOver);
  }

  socket.on("data", (chunk) => {
    for (const line of read(chunk)) {
      if (isOver) return;
      if (line.kind === "line") step(readMessage(line.text));
      else
        step({ kind: "wrong", id: undefined, note: `a line has more than ${mostLineBytes} bytes` });
    }
  });
  socket.on("error", () => {});
  socket.on("end", gone);
  socket.on("close", gone);

  return { over, end: () => socket.destroy() };
}

function summaryOf(told: GranaryBuildReport): EndSummary {
  const { counts, bytes, savedMs, waitedMs, notAhead, diskTrouble } = told;
  const { local, prefetched, fetched, missed, unreachable } = counts;
  const other = otherKeys(told);
  return {
    asked: local + prefetched + fetched + missed + unreachable,
    ...counts,
    savedMs,
    waitedMs,
    transferredBytes: bytes.transferred,
    wastedBytes: bytes.wasted,
    uploadedBytes: bytes.uploaded,
    ...(other === undefined ? {} : { otherKeys: other }),
    ...(diskTrouble === undefined ? {} : { diskTrouble }),
    ...(notAhead === "wasteful" ? { wasteful: true } : {}),
  };
}

function reported(
  { id, build = "" }: Message<"report">,
  reports: readonly GranaryBuildReport[],
): Answer {
  return {
    type: "reported",
    to: id,
    report: reports.find((report) => report.id.startsWith(build)) ?? null,
    builds: reports.map(({ id: named, project, command, endedAt, exitCode }) => ({
      id: named,
      project,
      command,
      endedAt,
      exitCode,
    })),
  };
}

export function outboxAnswer({ trouble, setAside, ...waiting }: OutboxState) {
  return {
    ...waiting,
    ...(trouble === undefined ? {} : { trouble }),
    ...(setAside === undefined ? {} : { setAside }),
  };
}
