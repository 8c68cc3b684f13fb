import type { IncomingMessage, ServerResponse } from "node:http";
import { asSpan, insideSpan, nowMs } from "./active-span.ts";
import type { Tracing } from "./tracing.ts";

/** The part of a gRPC call that a span needs. */
interface Call {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly metadata: Readonly<Record<string, string | Uint8Array>>;
}

/** A call of this method is a trace also if its client sends no `traceparent`. */
const beginsTraces = "/build.bazel.remote.execution.v2.Execution/Execute";

/** Calls between workers and servers about many executions at once; those have their own spans. */
const aboutMany = "/grange.worker.v1.";

/**
 * Returns a function that records gRPC calls as spans: each `Execute`, and calls whose client sends a `traceparent`.
 * Undefined without tracing.
 */
export function tracedCalls(tracing: Tracing | undefined) {
  if (tracing === undefined) return undefined;
  return (call: Call, next: () => Promise<void>): Promise<void> => {
    const { path } = call;
    const { traceparent } = call.metadata;
    const isRecorded =
      path === beginsTraces || (traceparent !== undefined && !path.startsWith(aboutMany));
    const name = path.slice(1);
    const place = isRecorded ? tracing.begin(name, traceparent) : undefined;
    if (place === undefined) return next();
    return asSpan({ place, tracing }, name, { "rpc.system": "grpc" }, next, "server");
  };
}

/** Records HTTP requests whose client sends a `traceparent` as spans. Returns the handler itself without tracing. */
export function tracedRequests<Rest extends readonly unknown[]>(
  tracing: Tracing | undefined,
  handle: (request: IncomingMessage, response: ServerResponse, ...rest: Rest) => void,
): typeof handle {
  if (tracing === undefined) return handle;
  return (request, response, ...rest) => {
    const { traceparent } = request.headers;
    const name = `${request.method} ${routeOf(request.url ?? "/")}`;
    const place = traceparent === undefined ? undefined : tracing.begin(name, traceparent);
    if (place === undefined) return handle(request, response, ...rest);
    const startMs = nowMs();
    response.once("close", () => {
      const { statusCode, writableFinished } = response;
      const attributes = { "http.response.status_code": statusCode };
      const failure = !writableFinished ? "aborted" : statusCode >= 500 ? "error" : undefined;
      const times = { startMs, endMs: nowMs() };
      tracing.record({ place, name, kind: "server", ...times, attributes, failure });
    });
    return insideSpan({ place, tracing }, () => handle(request, response, ...rest));
  };
}

/** Returns the part of an address that is the same for all requests of a kind: no names, ids or keys. */
function routeOf(url: string): string {
  const [path = ""] = url.split("?", 1);
  const segments = path.split("/").slice(1);
  const [first = "", second = ""] = segments;
  // A granary's addresses may begin with the build.
  if (first === "build") return routeOf(`/${segments.slice(2).join("/")}`);
  return first === "api" ? `/${[first, second, segments[2]].join("/")}` : `/${first}`;
}
