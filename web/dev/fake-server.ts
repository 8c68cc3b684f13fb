import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { text } from "node:stream/consumers";
import type { GraphSummary } from "#api/graph.ts";
import { withSession } from "#api/session-in-page.ts";
import { JobWaiting } from "#api/waiting.ts";
import { answerPartOfLog } from "./answer-log.ts";
import { answerMadeUp, madeUpSession } from "./answer-made-up.ts";
import { changeFakeGraph } from "./fake-changes.ts";
import { fakeFailures } from "./fake-failures.ts";
import { type FakeFarm, summaryOf } from "./fake-farm.ts";
import { FakeRefusal } from "./fake-refusal.ts";
import { madeUpJob, madeUpJobPage, whyMadeUpJobWaits } from "./made-up-job.ts";
import { madeUpTimeline } from "./made-up-timeline.ts";
import { sendEvents } from "./send-events.ts";

export interface FakeServer {
  readonly url: string;
  /** Breaks every open stream, as a restarting server does. */
  dropStreams(): void;
  /** While refused, every request is broken off. */
  refuse(refused: boolean): void;
  stop(): Promise<void>;
}

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

/** As strict as the policy of the real server: it must allow everything that the pages need. */
const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Answers the API from a FakeFarm, and everything else from a directory of built pages. */
export async function startFakeServer(
  farm: FakeFarm,
  options: { port: number; pagesDirectory?: string },
): Promise<FakeServer> {
  const streams = new Set<ServerResponse>();
  let refused = false;

  const server = createServer((request, response) => {
    if (refused) {
      request.socket.destroy();
      return;
    }
    const url = new URL(request.url ?? "/", "http://fake");
    const answer = url.pathname.startsWith("/api/v1/")
      ? answerApi(farm, request, response, url, streams)
      : answerPage(options.pagesDirectory, url.pathname, response);
    answer.catch((reason: unknown) => {
      if (reason instanceof FakeRefusal) {
        return sendFailure(response, reason.status, reason.code, reason.message);
      }
      return response.destroy(reason as Error);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(options.port, "127.0.0.1", resolve);
  });

  const dropStreams = () => {
    for (const stream of streams) stream.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dropStreams,
    refuse(now) {
      refused = now;
    },
    stop() {
      dropStreams();
      server.closeAllConnections();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

async function answerPage(directory: string | undefined, path: string, response: ServerResponse) {
  if (directory === undefined) return sendFailure(response, 404, "not_found", "no pages here");
  const file = extname(path) === "" ? "index.html" : normalize(path);
  try {
    const bytes = await readFile(join(directory, file));
    response.setHeader("content-security-policy", contentPolicy);
    response.setHeader("content-type", contentTypes[extname(file)] ?? "application/octet-stream");
    response.end(file === "index.html" ? withSession(bytes.toString(), madeUpSession) : bytes);
  } catch {
    sendFailure(response, 404, "not_found", `no file ${path}`);
  }
}

async function answerApi(
  farm: FakeFarm,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  streams: Set<ServerResponse>,
): Promise<void> {
  const [kind, id, ...rest] = url.pathname
    .slice("/api/v1/".length)
    .split("/")
    .map(decodeURIComponent);
  const repository = url.searchParams.get("repository");
  const number = (name: string) => Number(url.searchParams.get(name) ?? 0);

  const body: unknown =
    request.method === "GET" ? undefined : JSON.parse((await text(request)) || "{}");

  if ((kind === "invocations" || kind === "executions") && rest[0] === "log") {
    const log = farm.log(kind, `${id ?? ""} ${url.searchParams.get("stream") ?? ""}`.trim(), 1);
    return answerPartOfLog({ farm, log, part: rest[1], url, response, streams });
  }
  const said = answerMadeUp(farm, { kind: kind ?? "", id, rest, url, body });
  if (said !== undefined) return sendJson(response, said);
  if (kind === "repositories" && rest[0] === "settings")
    return sendJson(response, { repository: id, project: "default" });
  if (kind === "repositories") {
    const names = new Set([...farm.graphs.values()].map((graph) => graph.repository));
    return sendJson(
      response,
      [...names].map((name) => {
        const graphs = newestFirst(farm, name);
        return {
          name,
          url: `/home/farmer/${name}`,
          project: "default",
          graphs: graphs.length,
          latest: graphs[0],
        };
      }),
    );
  }
  if (kind === "retention") {
    const rule = { repository: "*", keepNewest: 50, most: null, setBy: "grange" };
    const setAt = "2026-01-01T00:00:00.000Z";
    return sendJson(response, {
      rules: [
        { ...rule, branch: "*", keepMs: 15_552_000_000, setAt },
        { ...rule, branch: "@protected", keepMs: null, setAt },
      ],
      ages: [{ kind: "audit", keepMs: null, setBy: null }],
      holds: [],
    });
  }
  if (kind === "workers" && id === "timeline") {
    const minutes = Number(url.searchParams.get("minutes") ?? 60);
    return sendJson(response, madeUpTimeline(new Date(), minutes, farm.workers, farm.timelineRuns));
  }
  if (kind === "workers") {
    if (id !== "events") return sendJson(response, farm.workers);
    let told = "";
    return sendEvents(farm, response, streams, (send) => {
      const text = JSON.stringify(farm.workers);
      if (text !== told) send({ data: farm.workers });
      told = text;
    });
  }
  if (kind === "events") {
    const told = new Map<string, number>();
    return sendEvents(farm, response, streams, (send) => {
      for (const graph of newestFirst(farm, repository)) {
        if (told.get(graph.id) !== graph.version) send({ data: graph });
        told.set(graph.id, graph.version);
      }
    });
  }
  if (kind === "blobs") return sendBlob(response);
  if (kind === "graphs" && id === undefined) {
    const before = url.searchParams.get("before");
    const commit = url.searchParams.get("commit");
    if (commit !== null) {
      const ofCommit = newestFirst(farm, null).filter((graph) => graph.commit === commit);
      return sendJson(response, ofCommit);
    }
    const list = newestFirst(farm, repository);
    const from =
      before === null
        ? 0
        : list.findIndex((graph) => graph.id === before || graph.createdAt === before) + 1;
    return sendJson(response, list.slice(from, from + (number("limit") || 50)));
  }

  const graph = farm.graphs.get(id ?? "");
  if (kind !== "graphs" || graph === undefined) {
    return sendFailure(response, 404, "not_found", `there is no ${kind} ${id ?? ""}`);
  }
  if (rest.length === 0) return sendJson(response, graph);
  if (rest[0] === "page") {
    const failed = (summaryOf(graph).counts.failed ?? 0) > 0;
    return sendJson(response, { graph, failures: failed ? fakeFailures(graph, null) : null });
  }
  if (rest[0] === "failures")
    return sendJson(response, fakeFailures(graph, url.searchParams.get("job")));
  if (rest[0] === "cancel") {
    const open = graph.jobList.filter(
      (job) => job.finishedAt === null && job.state !== "unreachable",
    );
    farm.change(
      graph.id,
      Object.fromEntries(
        open.map((job) => [
          job.name,
          { state: "cancelled", finishedAt: new Date().toISOString() } as const,
        ]),
      ),
    );
    return sendJson(response, summaryOf(farm.graphs.get(graph.id) ?? graph));
  }
  const changed = rest.length === 1 ? changeFakeGraph(farm, graph, rest[0] ?? "", body) : undefined;
  if (changed !== undefined) return sendJson(response, changed);
  if (rest[0] === "events") {
    let since = Number(request.headers["last-event-id"] ?? number("since"));
    return sendEvents(farm, response, streams, (send, end) => {
      const delta = farm.deltaSince(graph.id, since);
      if (delta !== undefined) {
        since = delta.graph.version;
        send({ id: String(since), data: delta });
      }
      if (farm.graphs.get(graph.id)?.state !== "running") end();
    });
  }

  const job = graph.jobList.find((each) => each.name === rest[1]);
  if (job === undefined) {
    return sendFailure(response, 404, "not_found", `graph ${graph.id} has no job ${rest[1] ?? ""}`);
  }
  if (rest.length === 2) {
    const priority = farm.jobPriorities.get(`${graph.id} ${job.name}`) ?? 0;
    return sendJson(response, { ...madeUpJob(graph, job), priority });
  }
  if (rest[2] === "page") {
    const priority = farm.jobPriorities.get(`${graph.id} ${job.name}`) ?? 0;
    return sendJson(response, madeUpJobPage(graph, { ...madeUpJob(graph, job), priority }));
  }
  if (rest[2] === "coalescing") {
    return sendJson(response, { into: null, answersFor: [], bisect: null });
  }
  if (rest[2] === "waiting") {
    return sendJson(response, JobWaiting.parse({ waiting: whyMadeUpJobWaits(job) }));
  }
  if (rest[2] === "cancel") {
    farm.change(graph.id, {
      [job.name]: { state: "cancelled", finishedAt: new Date().toISOString() },
    });
    return sendJson(
      response,
      farm.graphs.get(graph.id)?.jobList.find((each) => each.name === job.name),
    );
  }
  const log = farm.log(graph.id, job.name, Number(rest[3]));
  if (rest[4] === "log")
    return answerPartOfLog({ farm, log, part: rest[5], url, response, streams });
  sendBlob(response);
}

function sendBlob(response: ServerResponse): void {
  response.setHeader("content-disposition", "attachment");
  response.end("made-up output\n");
}

function newestFirst(farm: FakeFarm, repository: string | null): GraphSummary[] {
  return [...farm.graphs.values()]
    .filter((graph) => repository === null || graph.repository === repository)
    .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))
    .map(summaryOf);
}

function sendJson(response: ServerResponse, body: unknown): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}

function sendFailure(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
): void {
  response.statusCode = status;
  sendJson(response, { error: { code, message } });
}
