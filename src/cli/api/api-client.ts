import { z } from "zod";
import {
  type AnyCallInput,
  type CallInput,
  type Endpoint,
  pathOfCall,
  type ResultOf,
} from "#api/endpoint.ts";
import { serverEndpoints } from "#api/endpoints/server-endpoints.ts";
import type { Graph, GraphDelta, JobDetail } from "#api/graph.ts";
import type { ServerInfo } from "#api/server-info.ts";
import { Fault } from "#core/fault.ts";
import type { ClientCertificate } from "#grpc/client-certificate.ts";
import { failureOf, jsonOr, ServerUnreachable } from "./api-failure.ts";
import { followGraph, followLog, type LogPart } from "./follow.ts";
import { repeatRequest } from "./repeat-request.ts";
import { type HttpAnswer, type HttpRequest, requestSender } from "./send-request.ts";

/** A run of a job; the graph may be given as a unique prefix of its id, or as `latest`. */
export interface RunAddress {
  readonly graph: string;
  readonly job: string;
  readonly run: number;
  /** The batch of a chunked job's run. */
  readonly batch?: number;
}

/** A client of docs/http-api.md. Each answer is parsed, which detects a server of another version. */
export interface ApiClient {
  readonly serverUrl: string;
  server(): Promise<ServerInfo>;
  graph(id: string): Promise<Graph>;
  /** Yields all changes after a version, across lost connections, until the graph has ended. */
  followGraph(id: string, since: number, signal: AbortSignal): AsyncIterable<GraphDelta>;
  job(graph: string, name: string): Promise<JobDetail>;
  log(address: RunAddress, offset: number): Promise<LogPiece>;
  /** Returns a piece of any other log: the path may have a query. */
  logAt(path: string, offset: number): Promise<LogPiece>;
  /** Yields a run's log as it grows, until it is complete. */
  followLog(address: RunAddress, signal: AbortSignal): AsyncIterable<LogPart>;
  /** Yields a body that is too large for memory as it arrives. */
  bytes(path: string, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Calls an endpoint that answers JSON, by its entry in the table of endpoints. */
  call<E extends Endpoint>(
    entry: E,
    input: CallInput<E>,
    signal?: AbortSignal,
  ): Promise<ResultOf<E>>;
  get<Shape extends z.ZodType>(shape: Shape, path: string): Promise<z.output<Shape>>;
  post<Shape extends z.ZodType>(
    shape: Shape,
    path: string,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<z.output<Shape>>;
  put<Shape extends z.ZodType>(shape: Shape, path: string, body: unknown): Promise<z.output<Shape>>;
  /** Sends bytes instead of JSON. */
  upload<Shape extends z.ZodType>(
    shape: Shape,
    path: string,
    bytes: Uint8Array<ArrayBuffer>,
  ): Promise<z.output<Shape>>;
  delete<Shape extends z.ZodType>(
    shape: Shape,
    path: string,
    body: unknown,
  ): Promise<z.output<Shape>>;
}

export interface LogPiece {
  readonly bytes: Uint8Array;
  readonly nextOffset: number;
  readonly isComplete: boolean;
}

export interface ApiClientOptions {
  /** The caller's token; without a token the farm treats the caller as `anyone`. */
  readonly token?: string | undefined;
  /** Additional trusted certificate authorities, in PEM. */
  readonly ca?: string | undefined;
  /** The certificate of a machine under TLS. */
  readonly clientCertificate?: ClientCertificate | undefined;
  /** A header of W3C Trace Context; requests that change something then belong to the caller's trace. */
  readonly traceparent?: string | undefined;
}

export function apiClient(
  serverUrl: string,
  { token, ca, clientCertificate: own, traceparent }: ApiClientOptions = {},
): ApiClient {
  const sendRequest = requestSender({ ca, own });
  const base = `${serverUrl.replace(/\/+$/, "")}/api/v1`;

  const send = async (path: string, request: HttpRequest = {}): Promise<HttpAnswer> => {
    const headers = {
      ...request.headers,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(traceparent === undefined || request.method === undefined ? {} : { traceparent }),
    };
    let answer: HttpAnswer;
    try {
      answer = await sendRequest(base + path, { ...request, headers });
    } catch (cause) {
      if (request.signal?.aborted === true) throw cause;
      throw new ServerUnreachable(serverUrl, cause);
    }
    if (answer.isOk) return answer;
    throw failureOf(answer.status, await answer.text());
  };

  const readText = async (path: string, request?: HttpRequest): Promise<string> => {
    const answer = await send(path, request);
    return answer.text().catch((cause: unknown) => {
      throw new ServerUnreachable(serverUrl, cause);
    });
  };
  const textOf = (path: string, request?: HttpRequest): Promise<string> =>
    mayArriveTwice(request)
      ? repeatRequest(() => readText(path, request), request?.signal)
      : readText(path, request);

  const ask = async <Shape extends z.ZodType>(
    shape: Shape,
    path: string,
    request?: HttpRequest,
  ): Promise<z.output<Shape>> => {
    const text = await textOf(path, request);
    const parsed = shape.safeParse(jsonOr(text, undefined));
    if (parsed.success) return parsed.data;
    throw new Fault(
      "internal",
      `${base}${path} sent an answer that this version of grange does not expect. ` +
        `Is it a Grange server of the same version?\n${z.prettifyError(parsed.error)}`,
    );
  };

  const logAt = async (path: string, offset: number): Promise<LogPiece> => {
    const answer = await send(`${path}${path.includes("?") ? "&" : "?"}offset=${offset}`);
    const bytes = await answer.bytes();
    return {
      bytes,
      nextOffset: Number(answer.header("x-next-offset") ?? offset + bytes.length),
      isComplete: answer.header("x-log-complete") === "true",
    };
  };

  const call = <E extends Endpoint>(
    entry: E,
    input: CallInput<E>,
    signal?: AbortSignal,
  ): Promise<ResultOf<E>> => {
    const { answer, method } = entry;
    if (answer.kind !== "json")
      throw new Fault("internal", `${entry.path} did not answer with JSON`);
    const { params, query, body = {} } = input as AnyCallInput;
    return ask(answer.shape, pathOfCall(entry, params, query), {
      ...(method === "GET" ? {} : { ...post(body), method }),
      ...(signal === undefined ? {} : { signal }),
    }) as Promise<ResultOf<E>>;
  };

  return {
    serverUrl,
    server: () => call(serverEndpoints.server, {}),
    async graph(id) {
      const { graphEndpoints } = await import("#api/endpoints/graph-endpoints.ts");
      return call(graphEndpoints.graph, { params: { graph: id } });
    },
    followGraph: (id, since, signal) =>
      followGraph((headers) => send(`${graphPath(id)}/events`, { headers, signal }), since, signal),
    async job(graph, job) {
      const { jobEndpoints } = await import("#api/endpoints/job-endpoints.ts");
      return call(jobEndpoints.job, { params: { graph, job } });
    },
    log: (address, offset) => logAt(`${runPath(address)}/log${batchQuery(address)}`, offset),
    logAt,
    followLog: (address, signal) =>
      followLog(
        (headers) =>
          send(`${runPath(address)}/log/events${batchQuery(address)}`, { headers, signal }),
        signal,
      ),
    bytes: async function* (path, signal) {
      const { body } = await send(path, signal ? { signal } : {});
      yield* chunksOf(body, serverUrl);
    },
    call,
    get: ask,
    post: (shape, path, body, signal) =>
      ask(shape, path, { ...post(body), ...(signal ? { signal } : {}) }),
    put: (shape, path, body) => ask(shape, path, { ...post(body), method: "PUT" }),
    upload: (shape, path, bytes) =>
      ask(shape, path, {
        method: "PUT",
        headers: { "content-type": "application/octet-stream" },
        body: bytes,
      }),
    delete: (shape, path, body) => ask(shape, path, { ...post(body), method: "DELETE" }),
  };
}

/** A request for something with an id that the client chose, such as a graph, makes it once. */
function mayArriveTwice({ method = "GET", body }: HttpRequest = {}): boolean {
  if (method === "GET") return true;
  const sent = typeof body === "string" ? jsonOr(body, undefined) : undefined;
  return method === "POST" && typeof sent === "object" && sent !== null && "id" in sent;
}

/** Yields the body of an answer. Throws `ServerUnreachable` when the connection breaks. */
async function* chunksOf(
  body: AsyncIterable<Uint8Array>,
  serverUrl: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (cause) {
    throw new ServerUnreachable(serverUrl, cause);
  }
}

function post(body: unknown): HttpRequest {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

function graphPath(id: string): string {
  return `/graphs/${encodeURIComponent(id)}`;
}

function jobPath(graph: string, name: string): string {
  return `${graphPath(graph)}/jobs/${encodeURIComponent(name)}`;
}

function batchQuery({ batch }: RunAddress): string {
  return batch === undefined ? "" : `?batch=${batch}`;
}

function runPath({ graph, job, run }: RunAddress): string {
  return `${jobPath(graph, job)}/runs/${run}`;
}
