import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import type { GranaryBuildReport } from "#api/granary.ts";
import { otherKeys } from "#api/other-keys.ts";
import { messageOf } from "#core/fault.ts";
import type { BuildFacts } from "../builds/build-facts.ts";
import type { Builds } from "../builds/open-builds.ts";
import type { BuildEnd } from "../builds/publish-build.ts";
import type { RunningBuild } from "../builds/start-build.ts";
import { keyInEnvironment } from "../key-in-environment.ts";
import type { Outbox, OutboxState } from "../outbox/outbox.ts";
import type { Trimmed } from "../store/granary-store.ts";
import type { ToolAttachment, ToolPlace } from "../tool-plugin.ts";
import { type Answer, type EndSummary, type GranaryStatus, usedByTool } from "./answers.ts";
import type { EndingBuilds } from "./ending-builds.ts";
import { announcedTool, type BuildStarted, type Message } from "./messages.ts";
import type { Effect } from "./protocol-state.ts";
import type { ResultHandlers } from "./result-handlers.ts";

export interface ProtocolConnectionParts {
  /** Shared by all connections. */
  readonly endingBuilds: EndingBuilds;
  /** The port of the build tools' protocols. */
  readonly toolsPort: number;
  readonly builds: Builds;
  readonly results: ResultHandlers;
  readonly outbox: Pick<Outbox, "drained">;
  /** Returns undefined where the tool is not served or the build does not use it. */
  readonly attachTool: (
    build: RunningBuild,
    tool: string,
    where: ToolPlace,
  ) => Promise<ToolAttachment | undefined>;
  readonly readFacts: (message: BuildStarted | Message<"fetch-ahead">) => Promise<BuildFacts>;
  readonly status: () => Promise<GranaryStatus>;
  readonly trim: () => Promise<Trimmed>;
  readonly onStopRequested: () => void;
  readonly logger: Logger;
}

/** The state of a connection's requests: at most one build at a time. */
export interface Conversation {
  readonly parts: ProtocolConnectionParts;
  readonly send: (answer: Answer) => void;
  build: RunningBuild | undefined;
  /** A tool of the build that a plug-in serves, and its name. */
  tool: { readonly name: string; readonly attached: ToolAttachment } | undefined;
}

/**
 * Ends the build. A tool that does not report hits is examined after it has exited; the client waits for that only on
 * request.
 */
export async function endBuild(
  conversation: Conversation,
  message: Message<"build-ended"> | undefined,
): Promise<void> {
  const { parts, send, build: ended, tool } = conversation;
  conversation.build = undefined;
  conversation.tool = undefined;
  const how = {
    exitCode: message?.exitCode ?? null,
    complete: message?.complete ?? false,
    overAt: performance.now(),
  };
  await ended?.prefetch.stop();
  const used = await tool?.attached.learn().catch((reason: unknown) => {
    parts.logger.warn(
      { err: reason },
      `the results that ${tool.name} used in a build are not known`,
    );
  });
  if (tool && used && message !== undefined && message.sync !== true) {
    send({ type: "ended", to: message.id, report: null, ...usedByTool(tool.name, used) });
    // Lets the answer leave before other work begins.
    await nextTurn();
    return parts.endingBuilds.add(report(conversation, ended, tool, how));
  }
  const summary = await report(conversation, ended, tool, how);
  if (message === undefined) return;
  if (message.sync) await parts.endingBuilds.over();
  const outbox = message.sync ? await parts.outbox.drained() : undefined;
  send({
    type: "ended",
    to: message.id,
    report: summary === undefined ? null : summaryOf(summary),
    ...(outbox === undefined ? {} : { outbox: outboxAnswer(outbox) }),
  });
}

async function report(
  { parts }: Conversation,
  ended: RunningBuild | undefined,
  tool: Conversation["tool"],
  how: BuildEnd,
): Promise<GranaryBuildReport | undefined> {
  await tool?.attached.finish().catch((reason: unknown) => {
    parts.logger.warn(
      { err: reason },
      `the results that ${tool.name} made in a build are not stored`,
    );
  });
  return ended && parts.builds.end(ended.id, how);
}

/** The message has the tools' own keys; results are fetched under the keys of the build's environment. */
function hint({ build }: Conversation, keys: Message<"hint">["keys"]): void {
  if (build === undefined) return;
  const { environment } = build;
  build.prefetch.hint(keys.map((key) => keyInEnvironment(environment, key)));
}

export async function startBuild(conversation: Conversation, message: BuildStarted): Promise<void> {
  const { parts, send } = conversation;
  const facts = await parts.readFacts(message).catch((reason: unknown) => {
    send({ type: "note", to: message.id, note: messageOf(reason).slice(0, 500) });
  });
  if (!facts) return;
  const started = await parts.builds.start(facts);
  conversation.build = started;
  const announced = announcedTool(message);
  if (announced !== undefined) {
    const { name, place } = announced;
    // If the client states its own waiting time, the tool is not delayed again when it connects.
    const where = { ...place, waits: message.waitMs === undefined };
    const attached = await parts.attachTool(started, name, where).catch((reason: unknown) => {
      parts.logger.info({ why: messageOf(reason) }, `${name} builds without the granary`);
      return undefined;
    });
    conversation.tool = attached && { name, attached };
  }
  const attached = conversation.tool?.attached;
  const { waitMs = 0 } = message;
  const ready = waitMs === 0 ? "late" : await started.ready(waitMs, attached?.prepared?.(waitMs));
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
    ...(attached === undefined ? {} : { settings: { ...attached.settings } }),
  });
}

export async function carryOut(
  conversation: Conversation,
  { message }: Effect & { kind: "carry-out" },
): Promise<void> {
  const { parts, send, build } = conversation;
  switch (message.type) {
    case "hint":
      return hint(conversation, message.keys);
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
      return send({
        type: "status",
        to: message.id,
        status: await parts.status(),
      });
    case "report":
      await parts.endingBuilds.over();
      return send(reported(message, await parts.builds.lastReports()));
    case "trim":
      return send({
        type: "trimmed",
        to: message.id,
        ...(await parts.trim()),
      });
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

function summaryOf(summary: GranaryBuildReport): EndSummary {
  const { counts, bytes, savedMs, waitedMs, notAhead, diskTrouble } = summary;
  const { local, prefetched, fetched, missed, unreachable } = counts;
  const other = otherKeys(summary);
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
