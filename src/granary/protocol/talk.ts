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
import type { ResultDeeds } from "./carry-out.ts";
import { begin, type Conversation, type Deed, hear } from "./conversation.ts";
import type { Endings } from "./endings.ts";
import { lineReader, mostLineBytes } from "./line-reader.ts";
import { type BuildStarted, type Message, readMessage } from "./messages.ts";

export interface TalkParts {
  /** Of all talks. */
  readonly endings: Endings;
  /** The port that tools speak to. */
  readonly toolsPort: number;
  readonly builds: Builds;
  readonly results: ResultDeeds;
  readonly outbox: Pick<Outbox, "drained">;
  /** Undefined where dune is not served, or the build has no use for it. */
  readonly attachDune: (
    build: RunningBuild,
    where: DunePlace,
  ) => Promise<DuneAttachment | undefined>;
  readonly readFacts: (said: BuildStarted | Message<"fetch-ahead">) => Promise<BuildFacts>;
  readonly status: () => Promise<GranaryStatus>;
  readonly trim: () => Promise<Trimmed>;
  readonly stopWished: () => void;
  readonly logger: Logger;
}

/** Deeds of one connection under way: more is not read before some are done. */
const mostUnderWay = 128;
/** A peer that does not take its answers is no peer. */
const mostUnsentBytes = 16 * 1024 * 1024;
/** After a hello that never comes. */
const silentMs = 10_000;

export interface Talk {
  readonly over: Promise<void>;
  end(): void;
}

/** One conversation: what `hear` says is to be done is done here. */
export function startTalk(parts: TalkParts, socket: Socket, secret: string | undefined): Talk {
  const { logger } = parts;
  const read = lineReader(mostLineBytes);
  const underWay = new Set<Promise<void>>();
  let state: Conversation = begin(secret);
  let build: RunningBuild | undefined;
  let dune: DuneAttachment | undefined;
  // Starts and ends happen in the order in which they were said; all else beside each other.
  let inOrder: Promise<void> = Promise.resolve();
  let isOver = false;
  let tellOver = () => {};
  const over = new Promise<void>((resolve) => {
    tellOver = resolve;
  });
  const silence = setTimeout(() => state.kind === "new" && socket.destroy(), silentMs);
  silence.unref();

  const say = (answer: Answer) => {
    if (socket.destroyed || !socket.writable) return;
    socket.write(`${JSON.stringify(answer)}\n`);
    if (socket.writableLength > mostUnsentBytes) socket.destroy();
  };

  const track = (work: Promise<void>) => {
    const done: Promise<void> = work
      .catch((reason: unknown) => {
        logger.warn({ err: reason }, "a build system's message came to nothing");
        say({ type: "note", note: messageOf(reason).slice(0, 500) });
      })
      .finally(() => {
        underWay.delete(done);
        if (underWay.size < mostUnderWay && socket.isPaused()) socket.resume();
      });
    underWay.add(done);
    if (underWay.size >= mostUnderWay) socket.pause();
    return done;
  };

  /** dune tells of no hit: what it used is found out when it is gone, and its build does not wait for that unless it asks to. */
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
      say({ type: "ended", to: message.id, report: null, dune: used });
      // So that it has gone before there is other work.
      await nextTurn();
      return parts.endings.add(report(ended, attached, how));
    }
    const told = await report(ended, attached, how);
    if (message === undefined) return;
    if (message.sync) await parts.endings.over();
    const outbox = message.sync ? await parts.outbox.drained() : undefined;
    say({
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

  /** Tools' own keys are told; those of its environment are fetched. */
  function hint(keys: Message<"hint">["keys"]): void {
    const [running, environment] = [build, build?.environment];
    if (environment === undefined) return;
    running?.prefetch.hint(keys.map((key) => keyInEnvironment(environment, key)));
  }

  async function startBuild(message: BuildStarted): Promise<void> {
    const facts = await parts.readFacts(message).catch((reason: unknown) => {
      say({ type: "note", to: message.id, note: messageOf(reason).slice(0, 500) });
    });
    if (!facts) return;
    const started = await parts.builds.start(facts);
    build = started;
    if (message.dune !== undefined) {
      // Who says how long to wait is waited for so long, and not once more at dune's door.
      const where = { ...message.dune, waits: message.waitMs === undefined };
      dune = await parts.attachDune(started, where).catch((reason: unknown) => {
        logger.info({ why: messageOf(reason) }, "dune builds without us");
        return undefined;
      });
    }
    const { waitMs = 0 } = message;
    const ready = waitMs === 0 ? "late" : await started.ready(waitMs, dune?.prepared?.(waitMs));
    say({
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

  async function carryOut({ message }: Deed & { kind: "carry-out" }): Promise<void> {
    switch (message.type) {
      case "hint":
        return hint(message.keys);
      case "approximation":
        if (build !== undefined) await parts.results.approximate(build, message);
        return;
      case "look-up":
        if (build !== undefined) say(await parts.results.lookUp(build, message));
        return;
      case "result":
        if (build !== undefined) say(await parts.results.keep(build, message));
        return;
      case "status":
        return say({ type: "status", to: message.id, status: await parts.status() });
      case "report":
        await parts.endings.over();
        return say(reported(message, await parts.builds.lastReports()));
      case "trim":
        return say({ type: "trimmed", to: message.id, ...(await parts.trim()) });
      case "stop":
        say({ type: "stopping", to: message.id });
        return parts.stopWished();
      case "fetch-ahead": {
        const facts = await parts.readFacts(message);
        const ahead = await parts.builds.fetchAhead(facts, message.dryRun);
        return say({ type: "fetching", to: message.id, ahead });
      }
    }
  }

  function act(deed: Deed): void {
    switch (deed.kind) {
      case "say":
        inOrder = inOrder.then(() => say(deed.answer));
        return;
      case "start":
        inOrder = track(inOrder.then(() => startBuild(deed.message)));
        return;
      case "end": {
        // What was said before the end is done before it.
        const before = [...underWay];
        inOrder = track(
          inOrder.then(() => Promise.allSettled(before)).then(() => endBuild(deed.message)),
        );
        return;
      }
      case "carry-out": {
        const started = inOrder;
        void track(started.then(() => carryOut(deed)));
        return;
      }
      case "hang-up": {
        const before = [...underWay];
        inOrder = inOrder.then(() => Promise.allSettled(before)).then(() => void socket.end());
        return;
      }
    }
  }

  const step = (heard: Parameters<typeof hear>[1]) => {
    const { next, deeds } = hear(state, heard);
    state = next;
    for (const deed of deeds) act(deed);
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
