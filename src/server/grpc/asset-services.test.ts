import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { encodeDirectory } from "#cas/directory-message.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import {
  Fetch,
  type FetchBlobRequestSchema,
  Push,
} from "#proto/build/bazel/remote/asset/v1/remote_asset_pb.ts";
import {
  DigestFunction_Value,
  DirectorySchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { Code } from "#proto/google/rpc/code_pb.ts";
import { type Asker, aClosedFarm } from "../two-projects.fixture.ts";

const project = "team/app";
const mostBytes = 100_000;

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
let writer: Asker;
let reader: Asker;
let own: Asker;
beforeAll(async () => {
  farm = await aClosedFarm({
    GRANGE_PRIVATE_HOSTS: "localhost",
    GRANGE_CACHE_ENTRY_BYTES: `${mostBytes}`,
  });
  writer = farm.asker(project, await farm.tokenOf("writer", ["cache"], project));
  reader = farm.asker(project, await farm.tokenOf("reader", ["read"], project));
  own = farm.asker(project, await farm.tokenOf("own", ["execute"], project));
});
afterAll(() => farm.stop());

/** A server of other people: it has what the test gives it, and counts. */
async function anOrigin(pages: Record<string, string | ((response: ServerResponse) => void)>) {
  const seen: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ url = "", headers }, response) => {
    seen.push({ path: url, headers });
    const page = pages[url];
    if (typeof page === "function") page(response);
    else if (page === undefined) response.writeHead(404).end();
    else response.end(page);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    seen,
    url: (path: string, host = "localhost") => `http://${host}:${port}${path}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Ask = Omit<MessageInitShape<typeof FetchBlobRequestSchema>, "$typeName" | "qualifiers"> & {
  readonly qualifiers?: Readonly<Record<string, string>>;
};
const listOf = (qualifiers: Readonly<Record<string, string>> = {}) =>
  Object.entries(qualifiers).map(([name, value]) => ({ name, value }));
const fetchBlob = ({ channel }: Asker, { qualifiers, ...ask }: Ask) =>
  channel.unary(Fetch.method.fetchBlob, {
    instanceName: project,
    qualifiers: listOf(qualifiers),
    ...ask,
  });
const sriOf = (text: string, algorithm = "sha256") =>
  `${algorithm}-${createHash(algorithm).update(text).digest("base64")}`;
const blobsOf = ({ channel }: Asker) => remoteBlobStore(channel, project);

describe("a download with a checksum", () => {
  test("happens once, and the blob is found under any address, also when its origin is gone", async () => {
    const text = "the archive";
    const qualifiers = { "checksum.sri": sriOf(text), "bazel.canonical_id": "one" };
    let uri: string;
    {
      await using origin = await anOrigin({ "/a": text });
      uri = origin.url("/a");
      const first = await fetchBlob(writer, { uris: [uri], qualifiers });
      const again = await fetchBlob(writer, { uris: [uri], qualifiers });

      expect(first).toMatchObject({ status: { code: Code.OK }, uri });
      expect(again.blobDigest).toEqual(toDigestMessage(digestOf(Buffer.from(text))));
      expect(origin.seen.map(({ path }) => path)).toEqual(["/a"]);
    }
    const elsewhere = await fetchBlob(reader, {
      uris: ["https://no-such-host.invalid/b"],
      qualifiers: { "checksum.sri": sriOf(text) },
    });
    expect(elsewhere.status?.code).toBe(Code.OK);
    expect(
      Buffer.from((await blobsOf(reader).get(digestOf(Buffer.from(text)))) ?? "").toString(),
    ).toBe(text);
  });

  test("of other content is ABORTED, by each algorithm", async () => {
    await using origin = await anOrigin({ "/a": "something else" });
    for (const algorithm of ["sha256", "sha384", "sha512"]) {
      const qualifiers = { "checksum.sri": sriOf("expected", algorithm) };
      const answer = await fetchBlob(writer, { uris: [origin.url("/a")], qualifiers });

      expect(answer.status).toMatchObject({ code: Code.ABORTED });
      expect(answer.status?.message).toContain("checksum.sri asks for");
      expect(answer.blobDigest).toBeUndefined();
    }
    expect(origin.seen).toHaveLength(3);
  });

  test("goes to the next address when one has nothing", async () => {
    const text = "at the mirror";
    await using origin = await anOrigin({ "/mirror": text });
    const uris = [origin.url("/gone"), origin.url("/mirror")];

    const answer = await fetchBlob(writer, {
      uris,
      qualifiers: { "checksum.sri": sriOf(text, "sha512") },
    });

    expect(answer).toMatchObject({ status: { code: Code.OK }, uri: uris[1] });
  });
});

describe("a download without a checksum", () => {
  test("is stored under its address and qualifiers, and made again for who wants newer content", async () => {
    let version = 0;
    await using origin = await anOrigin({
      "/latest": (response) => void response.end(`v${++version}`),
    });
    const uris = [origin.url("/latest")];
    const hashFor = async (ask: Partial<Ask>) =>
      (await fetchBlob(writer, { uris, ...ask })).blobDigest?.hash;
    const [v1, v2, v3] = ["v1", "v2", "v3"].map((text) => digestOf(Buffer.from(text)).hash);

    expect(await hashFor({})).toBe(v1);
    expect(await hashFor({})).toBe(v1);
    expect(await hashFor({ qualifiers: { "bazel.canonical_id": "other" } })).toBe(v2);
    expect(await hashFor({ oldestContentAccepted: timestampFromMs(Date.now() + 60_000) })).toBe(v3);
    expect(await hashFor({ oldestContentAccepted: timestampFromMs(0) })).toBe(v3);
  });
});

describe("what the farm does not download", () => {
  test("a private address that is not listed, also after a redirect", async () => {
    await using origin = await anOrigin({ "/inside": "secret" });
    await using outside = await anOrigin({
      "/to": (response) =>
        void response.writeHead(302, { location: origin.url("/inside", "127.0.0.1") }).end(),
    });
    for (const uri of [
      origin.url("/inside", "127.0.0.1"),
      outside.url("/to"),
      "http://169.254.169.254/",
    ]) {
      const { status } = await fetchBlob(writer, { uris: [uri] });

      expect(status).toMatchObject({ code: Code.PERMISSION_DENIED });
      expect(status?.message).toContain("private address");
    }
    expect(origin.seen).toEqual([]);
  });

  test.each(["file:///etc/passwd", "ftp://localhost/a", "urn:uuid:f81d4fae", "/etc/passwd"])(
    "%s",
    async (uri) => {
      const { status } = await fetchBlob(writer, { uris: [uri] });

      expect(status?.code).toBe(Code.NOT_FOUND);
    },
  );

  test("more than the limit, whatever the origin says of the size", async () => {
    const large = "x".repeat(mostBytes + 1);
    await using origin = await anOrigin({
      "/said": large,
      "/unsaid": (response) => {
        response.write(large);
        response.end();
      },
    });
    for (const path of ["/said", "/unsaid"]) {
      const { status } = await fetchBlob(writer, { uris: [origin.url(path)] });
      expect(status?.code).toBe(Code.RESOURCE_EXHAUSTED);
    }
  });

  test("what takes longer than the client gives it", async () => {
    await using origin = await anOrigin({ "/never": () => {} });

    const { status } = await fetchBlob(writer, {
      uris: [origin.url("/never")],
      timeout: { seconds: 0n, nanos: 100_000_000 },
    });

    expect(status?.code).toBe(Code.DEADLINE_EXCEEDED);
  });

  test("qualifiers that a download does not know, and other digests, are invalid", async () => {
    const uris = ["http://localhost/a"];
    await expect(
      fetchBlob(writer, { uris, qualifiers: { "vcs.branch": "main" } }),
    ).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(
      fetchBlob(writer, { uris, digestFunction: DigestFunction_Value.BLAKE3 }),
    ).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("BLAKE3"),
    });
  });
});

test("headers are sent to their origin only, and what they open is not stored for others", async () => {
  await using other = await anOrigin({ "/b": "redirected" });
  await using origin = await anOrigin({
    "/a": (response) => {
      const isKnown = response.req.headers.authorization === "Bearer t";
      if (isKnown) response.writeHead(302, { location: other.url("/b") }).end();
      else response.writeHead(401).end();
    },
  });
  const uris = [origin.url("/a")];
  const qualifiers = { "http_header:Authorization": "Bearer t" };

  const withHeader = await fetchBlob(writer, { uris, qualifiers });
  const without = await fetchBlob(writer, { uris });

  expect(withHeader.status?.code).toBe(Code.OK);
  expect(withHeader.qualifiers).toEqual([]);
  expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  expect(without.status?.code).toBe(Code.PERMISSION_DENIED);
});

describe("pushed content", () => {
  const bytes = Buffer.from("pushed bytes");
  const digest = digestOf(bytes);
  const blobDigest = toDigestMessage(digest);
  const uris = ["urn:example:tool"];
  const push = ({ channel }: Asker, more: object = {}) =>
    channel.unary(Push.method.pushBlob, { instanceName: project, uris, blobDigest, ...more });

  test("must be in the store, and is found by exactly its qualifiers", async () => {
    const qualifiers = listOf({ "vcs.commit": "abc" });
    await expect(push(writer, { qualifiers })).rejects.toMatchObject({
      code: "failed_precondition",
    });
    await blobsOf(writer).put(digest, bytes);
    await push(writer, { qualifiers });

    const found = await fetchBlob(reader, { uris, qualifiers: { "vcs.commit": "abc" } });
    const other = await fetchBlob(reader, { uris }).catch((reason: { code: string }) => reason);

    expect(found).toMatchObject({ status: { code: Code.OK }, blobDigest });
    expect(other).toMatchObject({ code: "permission_denied" });
  });

  test("is returned until its end", async () => {
    await blobsOf(writer).put(digest, bytes);
    const qualifiers = { test: "expiry" };
    const until = (ms: number) =>
      push(writer, { qualifiers: listOf(qualifiers), expireAt: timestampFromMs(ms) });
    const find = () =>
      fetchBlob(writer, { uris, qualifiers }).then(
        ({ expiresAt }) => expiresAt !== undefined,
        ({ code }: { code: string }) => code,
      );

    await until(Date.now() + 600_000);
    expect(await find()).toBe(true);
    await until(Date.now() - 1_000);
    expect(await find()).toBe("invalid_argument");
  });

  test("with a false checksum is refused", async () => {
    await blobsOf(writer).put(digest, bytes);
    const qualifiers = listOf({ "checksum.sri": sriOf("other bytes") });

    await expect(push(writer, { qualifiers })).rejects.toMatchObject({ code: "invalid_argument" });
  });

  test("of a caller without the right `cache` is found by that caller only", async () => {
    await blobsOf(own).put(digest, bytes);
    const qualifiers = { test: "own" };
    await push(own, { qualifiers: listOf(qualifiers) });

    expect((await fetchBlob(own, { uris, qualifiers })).status?.code).toBe(Code.OK);
    await expect(fetchBlob(reader, { uris, qualifiers })).rejects.toMatchObject({
      code: "invalid_argument",
    });
    await expect(push(reader)).rejects.toMatchObject({ code: "permission_denied" });
  });

  test("may be a directory, which is found while all its files are there", async () => {
    const file = Buffer.from("a file of the directory");
    const { bytes: root, digest: rootDigest } = encodeDirectory(
      create(DirectorySchema, {
        files: [{ name: "a", digest: toDigestMessage(digestOf(file)) }],
      }),
    );
    const rootDirectoryDigest = toDigestMessage(rootDigest);
    const pushDirectory = () =>
      writer.channel.unary(Push.method.pushDirectory, {
        instanceName: project,
        uris,
        rootDirectoryDigest,
      });
    await blobsOf(writer).put(rootDigest, root);
    await expect(pushDirectory()).rejects.toMatchObject({ code: "failed_precondition" });
    await blobsOf(writer).put(digestOf(file), file);
    await pushDirectory();

    const fetchDirectory = (uri: string) =>
      reader.channel.unary(Fetch.method.fetchDirectory, { instanceName: project, uris: [uri] });
    expect(await fetchDirectory("urn:example:tool")).toMatchObject({
      status: { code: Code.OK },
      rootDirectoryDigest,
    });
    expect((await fetchDirectory("urn:example:other")).status?.code).toBe(Code.NOT_FOUND);
  });
});

test("who may only read gets what is stored, and makes the farm download nothing", async () => {
  await using origin = await anOrigin({ "/a": "not for readers" });

  await expect(fetchBlob(reader, { uris: [origin.url("/a")] })).rejects.toMatchObject({
    code: "permission_denied",
  });
  expect(origin.seen).toEqual([]);
});
