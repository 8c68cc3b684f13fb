import { once } from "node:events";
import { connect } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { Fault } from "#core/fault.ts";
import { ActionResultSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { noFarm } from "../farm/no-farm.ts";
import type { GranaryStore } from "../store/granary-store.ts";
import { fakeBuild, told } from "../tiered-cache/fake-build.fixture.ts";
import { openCacheBehindLine, openCacheWith } from "../tiered-cache/tiered-cache.fixture.ts";
import { frontOver, sendAll } from "./front.fixture.ts";

const hash = "ab".repeat(32);
const body = "what the tool has made";
const cas = digestOf(Buffer.from(body)).hash;

/** One entry of each tool, and the status that the tool accepts for a write. */
const tools = [
  { tool: "ccache", path: "ccache/ab/cdef", written: 200 },
  { tool: "sccache", path: "sccache/a/b/c", written: 201 },
  { tool: "gradle", path: `gradle/${hash.slice(0, 32)}`, written: 200 },
  { tool: "turborepo", path: "turborepo/v8/artifacts/abcdef", written: 202 },
  { tool: "nx", path: "nx/v1/cache/123456", written: 200 },
  { tool: "bazel, a result", path: `bazel/ac/${hash}`, written: 200 },
  { tool: "bazel, a blob", path: `bazel/cas/${cas}`, written: 200 },
] as const;

const put = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: "PUT", body, headers });

describe.each(tools)("$tool", ({ path, written }) => {
  test("finds what it has stored, and nothing else", async () => {
    const { url } = await frontOver(await openCacheWith(noFarm()));
    expect((await fetch(`${url}/cache/p/${path}`)).status).toBe(404);
    expect((await put(`${url}/cache/p/${path}`)).status).toBe(written);

    const found = await fetch(`${url}/cache/p/${path}`);
    expect(found.status).toBe(200);
    expect(await found.text()).toBe(body);
  });

  test.each(["refused", "silent"] as const)("goes on without a farm (%s): at once", async (how) => {
    const stand = await openCacheBehindLine();
    const { url } = await frontOver(stand);
    stand.line.cut(how);
    // The first request detects it.
    await stand.tieredCache.result(
      { project: "p", build: undefined },
      { namespace: "nx", key: "1" },
    );
    const begun = performance.now();

    expect((await fetch(`${url}/cache/p/${path}`)).status).toBe(404);
    expect((await put(`${url}/cache/p/${path}`)).status).toBe(written);
    expect((await fetch(`${url}/cache/p/${path}`)).status).toBe(200);
    // None of the three waits for the farm: 'silent' would never answer.
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  test("continues with a full disk: the data that it sends are dropped", async () => {
    const stand = await openCacheWith(noFarm());
    const full = async (): Promise<never> => {
      throw new Fault("resource_exhausted", "no space is left");
    };
    const { blobs } = stand.store;
    const store: GranaryStore = {
      ...stand.store,
      keep: full,
      blobs: {
        ...blobs,
        put: full,
        write: full,
        take: async (chunks) => {
          for await (const _ of chunks) return full();
          return full();
        },
      },
    };
    const tieredCache = { ...stand.tieredCache, blobs: () => store.blobs };
    const { url } = await frontOver({ ...stand, store, tieredCache });

    const large = await fetch(`${url}/cache/p/${path}`, { method: "PUT", body });
    expect(large.status).toBe(written);
    expect((await fetch(`${url}/cache/p/${path}`)).status).toBe(404);
  });
});

test("an artifact of the farm is the same on a second machine, with headers and cost", async () => {
  const first = await openCacheWith(noFarm());
  const second = await openCacheBehindLine();
  const headers = { "x-artifact-duration": "1234", "x-artifact-tag": "sig", "x-artifact-sha": "c" };
  const path = "cache/p/turborepo/v8/artifacts/abcdef";
  await put(`${(await frontOver(first)).url}/${path}`, headers);
  await sendAll(first, second.fake);

  const found = await fetch(`${(await frontOver(second)).url}/${path}`);

  expect(await found.text()).toBe(body);
  expect(Object.fromEntries(found.headers)).toMatchObject(headers);
  expect(first.outbox[0]?.costMs).toBe(1_234);
});

test("Nx's second writer gets a conflict, without a request to the farm", async () => {
  const stand = await openCacheBehindLine();
  const { url } = await frontOver(stand);
  expect((await put(`${url}/cache/p/nx/v1/cache/1`)).status).toBe(200);
  expect((await put(`${url}/cache/p/nx/v1/cache/1`)).status).toBe(409);
  expect(stand.fake.calls.lookUp).toBe(0);
});

describe("results of another environment", () => {
  const ofKeys = tools.filter(({ path }) => !path.startsWith("bazel/"));

  test.each(ofKeys)(
    "$tool: a machine with another compiler gets none, and one with the same compiler does",
    async ({ path, written }) => {
      const first = await openCacheWith(noFarm());
      const one = fakeBuild({ environment: "gcc of one content" });
      const from = await frontOver(first, { builds: [one] });
      expect((await put(`${from.url}/build/${one.id}/cache/p/${path}`)).status).toBe(written);

      const second = await openCacheBehindLine();
      await sendAll(first, second.fake);
      const other = fakeBuild({ environment: "gcc of another content" });
      const same = fakeBuild({ environment: "gcc of one content" });
      const { url } = await frontOver(second, { builds: [other, same] });
      const statusFor = async ({ id }: { readonly id: string }) =>
        (await fetch(`${url}/build/${id}/cache/p/${path}`)).status;
      expect(await statusFor(other)).toBe(404);
      expect(await statusFor(same)).toBe(200);
      // Requests without a build use the granary's own environment.
      expect((await fetch(`${url}/cache/p/${path}`)).status).toBe(404);
    },
  );
});

describe("a build", () => {
  test("records the requests of its tools, by their path", async () => {
    const [one, other] = [fakeBuild(), fakeBuild()];
    const { url } = await frontOver(await openCacheWith(noFarm()), { builds: [one, other] });
    await fetch(`${url}/build/${one.id}/cache/p/ccache/ab/c`);
    await put(`${url}/build/${one.id}/cache/p/ccache/ab/c`);
    await fetch(`${url}/build/${one.id}/cache/p/ccache/ab/c`);

    expect(told(one)).toEqual(["missed never-made ccache ab/c", "local ccache ab/c"]);
    expect(one.results).toHaveLength(1);
    expect(told(other)).toEqual([]);
  });

  test("also records requests without a build id if it is the only build", async () => {
    const [ours, theirs] = [fakeBuild(), fakeBuild({ project: "other" })];
    const { url } = await frontOver(await openCacheWith(noFarm()), { builds: [ours, theirs] });
    await fetch(`${url}/cache/p/ccache/ab/c`);
    await fetch(`${url}/build/${theirs.id}/cache/p/ccache/ab/d`);

    expect(told(ours)).toEqual(["missed never-made ccache ab/c"]);
    expect(told(theirs)).toEqual([]);
  });
});

describe("Bazel over HTTP", () => {
  const output = Buffer.from("an output");
  const result = toBinary(
    ActionResultSchema,
    create(ActionResultSchema, {
      outputFiles: [{ path: "out", digest: toDigestMessage(digestOf(output)) }],
    }),
  );

  async function filled() {
    const first = await openCacheWith(noFarm());
    const second = await openCacheBehindLine();
    const { url } = await frontOver(first);
    await fetch(`${url}/cache/p/bazel/cas/${digestOf(output).hash}`, {
      method: "PUT",
      body: output,
    });
    await fetch(`${url}/cache/p/bazel/ac/${hash}`, { method: "PUT", body: result });
    await sendAll(first, second.fake);
    return { first, second, url: (await frontOver(second)).url };
  }

  test("gets results of the farm, and the blobs that they name", async () => {
    const { url, first } = await filled();
    expect(first.outbox[0]?.blobs).toEqual([digestOf(output)]);
    expect((await fetch(`${url}/cache/p/bazel/ac/${hash}`)).status).toBe(200);
    const blob = await fetch(`${url}/cache/p/bazel/cas/${digestOf(output).hash}`);
    expect(await blob.text()).toBe("an output");
  });

  test("gets no result with a missing blob", async () => {
    const { url, second } = await filled();
    for (const [name, kept] of second.fake.results) {
      // As from a farm that has not read which blobs the result names.
      second.fake.results.set(name, { ...kept, blobs: [] });
    }
    await second.fake.blobs.remove(digestOf(output));
    expect((await fetch(`${url}/cache/p/bazel/ac/${hash}`)).status).toBe(404);
  });

  test("is rejected when a blob does not match its name", async () => {
    const { url } = await frontOver(await openCacheWith(noFarm()));
    const sent = await fetch(`${url}/cache/p/bazel/cas/${hash}`, { method: "PUT", body });
    expect(sent.status).toBe(400);
  });
});

test.each([
  ["/healthz", {}, 200],
  ["/elsewhere", {}, 404],
  ["/build/x", {}, 404],
  ["/healthz", { host: "evil.example" }, 403],
  ["/cache/p/ccache/ab/c", { host: "evil.example" }, 403],
] as const)("%s as %j is answered %i", async (path, headers, status) => {
  const { port } = await frontOver(await openCacheWith(noFarm()));
  const { request } = await import("node:http");
  const answered = await new Promise<number | undefined>((resolve, reject) => {
    request({ port, host: "127.0.0.1", path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
  expect(answered).toBe(status);
});

describe("a client that first sends only the head of a request", () => {
  const head = (agent: string) =>
    `PUT /cache/p/ccache/ab/cd HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: ${agent}\r\ncontent-length: ${body.length}\r\n\r\n`;
  const connected = async () => {
    const { port, url } = await frontOver(await openCacheWith(noFarm()));
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    const next = async () => String((await once(socket, "data"))[0]).split("\r\n")[0];
    await once(socket, "connect");
    return { socket, next, url };
  };

  test("gets 100 Continue if it is ccache, whose body would wait for it", async () => {
    const { socket, next, url } = await connected();
    socket.write(head("ccache/4.7.5"));
    expect(await next()).toBe("HTTP/1.1 100 Continue");

    socket.write(body);

    expect(await next()).toBe("HTTP/1.1 200 OK");
    expect(await (await fetch(`${url}/cache/p/ccache/ab/cd`)).text()).toBe(body);
  });

  test("gets no unrequested response if it is another", async () => {
    const { socket, next } = await connected();
    socket.write(head("Go-http-client/1.1"));
    socket.write(body);
    expect(await next()).toBe("HTTP/1.1 200 OK");
  });
});
