import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Fault } from "#core/fault.ts";
import { parseTraceparent } from "#core/span-place.ts";
import { activeTraceparent } from "./active-span.ts";
import { tracedCalls, tracedRequests } from "./traced-calls.ts";
import type { EndedSpan, Tracing } from "./tracing.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${callerId}-01`;
const ownId = "1111111111111111";

/** Keeps what is recorded; every span has the same id. */
function recorder() {
  const spans: EndedSpan[] = [];
  const tracing: Tracing = {
    begin(_name, header) {
      const caller = parseTraceparent(header);
      return { traceId, spanId: ownId, parentId: caller?.spanId ?? null };
    },
    record: (span) => void spans.push(span),
    stop: async () => {},
  };
  return { spans, tracing };
}

const execute = "/build.bazel.remote.execution.v2.Execution/Execute";
const read = "/google.bytestream.ByteStream/Read";

test.each([
  { path: execute, metadata: {}, parentId: null },
  { path: execute, metadata: { traceparent }, parentId: callerId },
  { path: read, metadata: { traceparent }, parentId: callerId },
])(
  "a call of $path with $metadata is a span below $parentId",
  async ({ path, metadata, parentId }) => {
    const { spans, tracing } = recorder();
    let carried: string | undefined;

    await tracedCalls(tracing)?.({ path, metadata }, async () => {
      await Promise.resolve();
      carried = activeTraceparent();
    });

    expect(spans).toMatchObject([{ name: path.slice(1), kind: "server", place: { parentId } }]);
    expect(carried).toBe(`00-${traceId}-${ownId}-01`);
  },
);

test.each([
  { path: read, metadata: {} },
  { path: "/grange.worker.v1.Workers/AppendLog", metadata: { traceparent } },
])("a call of $path with $metadata is no span", async ({ path, metadata }) => {
  const { spans, tracing } = recorder();

  await tracedCalls(tracing)?.({ path, metadata }, async () => {});

  expect(spans).toEqual([]);
});

test("a call that fails is recorded with the code of its failure, not with its sentence", async () => {
  const { spans, tracing } = recorder();
  const call = { path: read, metadata: { traceparent } };

  const failing = tracedCalls(tracing)?.(call, async () => {
    throw new Fault("not_found", "there is no /home/me/secret");
  });

  await expect(failing).rejects.toThrow("secret");
  expect(spans[0]?.failure).toBe("not_found");
});

test("without tracing, nothing is put around calls and requests", () => {
  const handle = () => {};

  expect(tracedCalls(undefined)).toBeUndefined();
  expect(tracedRequests(undefined, handle)).toBe(handle);
});

test("a request with a traceparent is a span whose name contains no id, query or key", async () => {
  const { spans, tracing } = recorder();
  const server = createServer(
    tracedRequests(tracing, (request, response) => {
      response.statusCode = request.url === "/cache/mine/ccache/00/key" ? 500 : 200;
      response.end(activeTraceparent() ?? "none");
    }),
  );
  onTestFinished(() => void server.close());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const ask = async (path: string, headers = {}) =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text();

  expect(await ask("/api/v1/graphs/0f6a?token=secret", { traceparent })).toBe(
    `00-${traceId}-${ownId}-01`,
  );
  await ask("/build/17/cache/mine/ccache/00/key", { traceparent });
  await ask("/cache/mine/ccache/00/key", { traceparent });
  expect(await ask("/api/v1/graphs")).toBe("none");

  await expect.poll(() => spans.length).toBe(3);
  expect(spans.map(({ name, failure }) => [name, failure])).toEqual([
    ["GET /api/v1/graphs", undefined],
    ["GET /cache", undefined],
    ["GET /cache", "error"],
  ]);
});
