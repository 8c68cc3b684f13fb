import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { unzstdWhole } from "#cas/zstd/zstd-streams.ts";
import { encodeIndex } from "#commit-index/encode-index.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import {
  ActionCache,
  ContentAddressableStorage,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { FetchedSchema, Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import {
  type Asker,
  aClosedFarm,
  outcomeOf,
  type Things,
  thingsNamed,
  upload,
} from "./two-projects.fixture.ts";

const rights = ["execute", "cache", "report"];
const commit = "c".repeat(40);
/** Names of equal length, so that only the content of the answers can differ. */
const [theirs, nobodys] = [thingsNamed("theirs-0"), thingsNamed("nobodys0")];

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
/** One that has it; one that builds in another project; one without a token, who asks about a project without blobs. */
let [alice, bob, stranger] = [] as unknown as [Asker, Asker, Asker];
beforeAll(async () => {
  farm = await aClosedFarm();
  alice = farm.asker("team/a", await farm.tokenOf("alice", rights, "team/a"));
  bob = farm.asker("team/b", await farm.tokenOf("bob", rights, "team/b"));
  stranger = farm.asker("team/c", "");

  await upload(alice, theirs.bytes);
  await alice.channel.unary(ActionCache.method.updateActionResult, {
    instanceName: alice.project,
    actionDigest: toDigestMessage(theirs.action),
    actionResult: { outputFiles: [{ path: "out", digest: toDigestMessage(theirs.file) }] },
  });
  await alice.channel.unary(Granaries.method.publishResults, {
    instanceName: alice.project,
    results: [{ result: ccache(theirs), value: toDigestMessage(theirs.file) }],
  });
  await tellIndex(alice, theirs);
  // Each of the two has something that the others cannot execute without all other parts.
  for (const asker of [alice, bob]) {
    for (const things of [theirs, nobodys]) await upload(asker, things.bytesElsewhere);
  }
  // A new project that contains a blob.
  await upload(bob, [Buffer.from("bob's own")]);
});
afterAll(() => farm?.stop());

const ccache = ({ seed }: Things) => ({ namespace: "ccache", key: seed });
const indexOf = (things: Things) =>
  encodeIndex({
    base: undefined,
    entries: [
      {
        ...ccache(things),
        namespace: "ccache",
        blobs: [things.file],
        firstMs: 0,
        savedMs: undefined,
        inputs: undefined,
      },
    ],
    removed: [],
  });

async function tellIndex({ channel, project, ...rest }: Asker, things: Things) {
  const index = indexOf(things);
  await upload({ channel, project, ...rest }, [index]);
  return channel.unary(Granaries.method.publishIndex, {
    instanceName: project,
    commits: [commit],
    environment: "e",
    entries: toDigestMessage(digestOf(index)),
  });
}

async function all<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of messages) found.push(each);
  return found;
}

/** Returns the first answer of Execute: that a blob is missing, or that the execution waits. */
async function firstOf({ channel, project }: Asker, action: Digest) {
  const leaving = new AbortController();
  const request = { instanceName: project, actionDigest: toDigestMessage(action) };
  for await (const operation of channel.serverStream(Execution.method.execute, request, {
    signal: leaving.signal,
  })) {
    leaving.abort();
    return operation.done ? operation : "it is under way";
  }
  return undefined;
}

async function over(http: Asker, path: string, method = "GET") {
  const { token, server } = http;
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.url.replace(/\/$/, "")}${path}`, { method, headers });
  const { date: _, ...said } = Object.fromEntries(answer.headers);
  return { status: answer.status, said, text: await answer.text() };
}

const key = ({ hash, sizeBytes }: Digest) => `${hash}/${sizeBytes}`;
const cas = ContentAddressableStorage.method;

type Probe = (asker: Asker, things: Things) => Promise<unknown>;

const probes: Record<string, Probe> = {
  FindMissingBlobs: ({ channel, project }, { file, tree, action }) =>
    channel.unary(cas.findMissingBlobs, {
      instanceName: project,
      blobDigests: [file, tree, action].map(toDigestMessage),
    }),
  BatchReadBlobs: ({ channel, project }, { file, action }) =>
    channel.unary(cas.batchReadBlobs, {
      instanceName: project,
      digests: [file, action].map(toDigestMessage),
    }),
  "ByteStream.Read": ({ channel, project }, { file }) =>
    all(
      channel.serverStream(ByteStream.method.read, {
        resourceName: `${project}/blobs/${key(file)}`,
      }),
    ),
  "ByteStream.Read, packed": ({ channel, project }, { file }) =>
    all(
      channel.serverStream(ByteStream.method.read, {
        resourceName: `${project}/compressed-blobs/zstd/${key(file)}`,
      }),
    ),
  "ByteStream.Read of an instance within the project's name": ({ channel, project }, { file }) =>
    all(
      channel.serverStream(ByteStream.method.read, {
        resourceName: `${project}/a/blobs/${key(file)}`,
      }),
    ).catch((reason: { code: string }) => {
      // The same for all callers, including those that have it.
      if (reason.code === "not_found") throw reason;
      return reason.code;
    }),
  QueryWriteStatus: ({ channel, project }, { file }) =>
    channel.unary(ByteStream.method.queryWriteStatus, {
      resourceName: `${project}/uploads/1/blobs/${key(file)}`,
    }),
  SplitBlob: ({ channel, project }, { file }) =>
    channel.unary(cas.splitBlob, { instanceName: project, blobDigest: toDigestMessage(file) }),
  "SpliceBlob of one chunk": ({ channel, project }, { file }) =>
    channel.unary(cas.spliceBlob, {
      instanceName: project,
      blobDigest: toDigestMessage(file),
      chunkDigests: [toDigestMessage(file)],
    }),
  "GetTree of a root": ({ channel, project }, { root }) =>
    all(
      channel.serverStream(cas.getTree, {
        instanceName: project,
        rootDigest: toDigestMessage(root),
      }),
    ),
  GetActionResult: ({ channel, project }, { action }) =>
    channel.unary(ActionCache.method.getActionResult, {
      instanceName: project,
      actionDigest: toDigestMessage(action),
      inlineOutputFiles: ["out"],
    }),
  "UpdateActionResult that names a file": ({ channel, project }, { file, actionElsewhere }) =>
    channel.unary(ActionCache.method.updateActionResult, {
      instanceName: project,
      actionDigest: toDigestMessage(actionElsewhere),
      actionResult: { outputFiles: [{ path: "o", digest: toDigestMessage(file) }] },
    }),
  "UpdateActionResult that names a directory": ({ channel, project }, { tree, actionElsewhere }) =>
    channel.unary(ActionCache.method.updateActionResult, {
      instanceName: project,
      actionDigest: toDigestMessage(actionElsewhere),
      actionResult: { outputDirectories: [{ path: "d", treeDigest: toDigestMessage(tree) }] },
    }),
  "Execute of an action": (asker, { action }) => firstOf(asker, action),
  "Execute of an action of one's own on inputs": (asker, { actionElsewhere }) =>
    firstOf(asker, actionElsewhere),
  "granaries' LookUp": ({ channel, project }, things) =>
    channel.unary(Granaries.method.lookUp, {
      instanceName: project,
      results: [ccache(things), { namespace: "reapi", key: digestKey(things.action) }],
    }),
  "granaries' Fetch": async ({ channel, project }, things) => {
    const items = [
      { item: { case: "blob" as const, value: toDigestMessage(things.file) } },
      { item: { case: "result" as const, value: ccache(things) } },
    ];
    const answers = channel.serverStream(Granaries.method.fetch, { instanceName: project, items });
    const packs = await all(answers);
    return Promise.all(
      packs.map(async ({ packed, unpackedBytes }) =>
        fromBinary(FetchedSchema, await unzstdWhole(packed, unpackedBytes)),
      ),
    );
  },
  "granaries' Resolve": ({ channel, project }) =>
    channel.unary(Granaries.method.resolve, {
      instanceName: project,
      commits: [commit],
      environment: "e",
      wantFilter: true,
    }),
  "granaries' PublishResults": ({ channel, project }, things) =>
    channel.unary(Granaries.method.publishResults, {
      instanceName: project,
      results: [{ result: { namespace: "ccache", key: "x" }, value: toDigestMessage(things.file) }],
    }),
  "granaries' PublishIndex of a blob that is not there": ({ channel, project }, things) =>
    channel.unary(Granaries.method.publishIndex, {
      instanceName: project,
      commits: [commit],
      environment: "e",
      entries: toDigestMessage(things.file),
    }),
  "Bazel's HTTP cache, a blob": (asker, { file }) =>
    over(asker, `/cache/${asker.project}/bazel/cas/${file.hash}`),
  "Bazel's HTTP cache, whether there is a blob": (asker, { file }) =>
    over(asker, `/cache/${asker.project}/bazel/cas/${file.hash}`, "HEAD"),
  "Bazel's HTTP cache, a result": (asker, { action }) =>
    over(asker, `/cache/${asker.project}/bazel/ac/${action.hash}`),
  "ccache's entry": (asker, { seed }) => over(asker, `/cache/${asker.project}/ccache/${seed}`),
  "a blob of the HTTP API": (asker, { file }) =>
    over(asker, `/api/v1/blobs/${key(file)}?project=${asker.project}`),
  "a blob of the HTTP API, as text": (asker, { file }) =>
    over(asker, `/api/v1/blobs/${key(file)}?as=text&project=${asker.project}`),
  "a directory of the HTTP API": (asker, { tree }) =>
    over(asker, `/api/v1/blobs/${key(tree)}/tree?project=${asker.project}`),
  "a blob of the HTTP API whose project is not said": (asker, { file }) =>
    over(asker, `/api/v1/blobs/${key(file)}`),
};

/** These methods answer everybody alike, because they do not concern blobs of a project. */
const forAllAlike = new Set([
  "ByteStream.Read of an instance within the project's name",
  "granaries' Resolve",
  "granaries' PublishIndex of a blob that is not there",
  "a blob of the HTTP API whose project is not said",
]);

describe.each(Object.entries(probes))("%s", (name, probe) => {
  const told = (asker: Asker, things: Things) => outcomeOf(things, () => probe(asker, things));

  test("says of what another project has what it says of what nobody has", async () => {
    expect(await told(bob, theirs)).toBe(await told(bob, nobodys));
    expect(await told(stranger, theirs)).toBe(await told(stranger, nobodys));
  });

  if (forAllAlike.has(name)) return;
  test("tells those whose it is", async () => {
    expect(await told(alice, theirs)).not.toBe(await told(alice, nobodys));
  });
});
