import assert from "node:assert/strict";
import { fromBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { type Endpoint, withParameters } from "#api/endpoint.ts";
import { allEndpoints } from "#api/endpoints/all-endpoints.ts";
import { unzstdWhole } from "#cas/zstd/zstd-streams.ts";
import {
  ActionCache,
  ContentAddressableStorage,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import { FetchedSchema, Granaries } from "#proto/grange/granary/v1/granary_pb.ts";
import type { aPrivateFarm, ObjectNames } from "./private-farm.fixture.ts";
import type { Asker } from "./two-projects.fixture.ts";

type PrivateFarm = Awaited<ReturnType<typeof aPrivateFarm>>;

/** Ways to write each name, also names that fit the parameter in form only. */
const words: readonly ((names: ObjectNames) => string)[] = [
  ({ repository }) => repository,
  ({ address }) => address,
  ({ project }) => project,
  ({ commit }) => commit,
  ({ graph }) => graph,
  // With its hyphen: eight digits would be a number where a number is expected.
  ({ graph }) => graph.slice(0, 13),
  ({ job }) => job,
  ({ catalog }) => catalog,
  ({ catalog }) => catalog.slice(0, 12),
  ({ execution }) => execution,
  ({ hash }) => hash,
  ({ hash, size }) => `${hash}/${size}`,
  ({ size }) => size,
  ({ repository }) => `${repository}@main`,
  () => "latest",
  () => "main",
  () => "1",
  () => "team/beta",
];

/** The names that belong into a parameter; each is taken in half of the requests. */
const fitting: Readonly<Record<string, (names: ObjectNames) => string>> = {
  graph: ({ graph }) => graph,
  job: ({ job }) => job,
  run: () => "1",
  set: ({ graph }) => graph,
  execution: ({ execution }) => execution,
  hash: ({ hash }) => hash,
  size: ({ size }) => size,
  digest: ({ catalog }) => catalog,
  catalog: ({ catalog }) => catalog,
  repository: ({ repository }) => repository,
  branch: () => "main",
  project: ({ project }) => project,
  commit: ({ commit }) => commit,
  environment: () => "e",
  a: ({ catalog }) => catalog,
  b: ({ catalog }) => catalog,
};

const wordFor = (parameter: string) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(fitting[parameter] ?? (() => "1")) },
    { weight: 1, arbitrary: fc.constantFrom(...words) },
  );

interface Request {
  readonly name: string;
  readonly method: string;
  readonly path: (names: ObjectNames) => string;
  readonly body: ((names: ObjectNames) => unknown) | undefined;
}

/** Calls of one endpoint, with names in the places of all its parameters. */
function requestsOf(name: string, { method, path, query }: Endpoint): fc.Arbitrary<Request> {
  const inPath = [...path.matchAll(/:([a-zA-Z]+)/g)].map(([, parameter = ""]) => parameter);
  const inQuery = Object.keys(query?.shape ?? {});
  return fc
    .record({
      path: fc.record(Object.fromEntries(inPath.map((each) => [each, wordFor(each)]))),
      query: fc.record(Object.fromEntries(inQuery.map((each) => [each, wordFor(each)])), {
        requiredKeys: inQuery.filter((each) => fitting[each] !== undefined),
      }),
      body: fc.constantFrom({}, "repository", "catalog"),
    })
    .map((chosen) => ({
      name,
      method,
      path: (names) => {
        const filled = withParameters(path, (parameter) =>
          encodeURIComponent(chosen.path[parameter]?.(names) ?? "x"),
        );
        const parameters = Object.entries(chosen.query).map(([key, word]): [string, string] => [
          key,
          word?.(names) ?? "",
        ]);
        return parameters.length === 0
          ? filled
          : `${filled}?${new URLSearchParams(parameters).toString()}`;
      },
      body:
        method === "GET"
          ? undefined
          : (names) =>
              typeof chosen.body === "string"
                ? { [chosen.body]: names[chosen.body as "repository"] }
                : {},
    }));
}

/** Streams of events stay open: their first answer is what a caller learns. */
async function answerTo(
  farm: Pick<PrivateFarm, "server" | "token">,
  request: Request,
  names: ObjectNames,
): Promise<string> {
  const leave = new AbortController();
  const path = request.path(names);
  const response = await fetch(`${farm.server.url.replace(/\/$/, "")}/api/v1${path}`, {
    method: request.method,
    headers: { authorization: `Bearer ${farm.token}`, "content-type": "application/json" },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body(names)) }),
    signal: leave.signal,
  });
  const isStream = response.headers.get("content-type")?.includes("event-stream") ?? false;
  const text = isStream ? await firstPart(response) : await response.text();
  leave.abort();
  const headers = comparableHeaders(response);
  return withoutNames(JSON.stringify({ status: response.status, headers, text }), names);
}

async function firstPart(response: Response): Promise<string> {
  const part = await response.body?.getReader().read();
  return Buffer.from(part?.value ?? []).toString();
}

/** Callers may write only the beginning of these, and messages quote only the beginning of long names. */
const hasBeginnings: ReadonlySet<string> = new Set(["graph", "catalog", "hash"]);

/** Returns the headers of an answer without those that differ between any two requests. */
function comparableHeaders(response: Response): Readonly<Record<string, string>> {
  const {
    date: _,
    etag: __,
    "x-request-id": ___,
    ...headers
  } = Object.fromEntries(response.headers);
  return headers;
}

/** Replaces the names of a request by the kinds of names, so that only what the farm adds is compared. */
function withoutNames(text: string, names: ObjectNames): string {
  return Object.entries(names)
    .filter(([key]) => key !== "size")
    .flatMap(([key, value]) => {
      const kind = key.toUpperCase();
      const whole = [value, encodeURIComponent(value)].map((text) => [text, kind] as const);
      const beginnings = hasBeginnings.has(key)
        ? [60, 13, 12, 8].map((length) => [value.slice(0, length), `${kind}-${length}`] as const)
        : [];
      return [...whole, ...beginnings];
    })
    .toSorted(([a], [b]) => b.length - a.length)
    .reduce((said, [value, kind]) => said.replaceAll(value, kind), text)
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/"content-length":"\d+"/g, "");
}

/** These change the caller's own session or rights, or wait for work. */
const left = new Set(["signOut", "claimBenchmarkJob", "enrol"]);
const entries: readonly [string, Endpoint][] = Object.entries(allEndpoints);
const calls = fc.oneof(
  ...entries.filter(([name]) => !left.has(name)).map(([name, entry]) => requestsOf(name, entry)),
);

/**
 * The property that the farm answers a request with names of another team's objects as it answers the same request with
 * names of nothing.
 */
export function answersTellNothing(farm: PrivateFarm) {
  return fc.asyncProperty(calls, async (request) => {
    const said = await answerTo(farm, request, farm.theirs);
    const saidOfNothing = await answerTo(farm, request, farm.nobodys);
    assert.deepEqual({ name: request.name, said }, { name: request.name, said: saidOfNothing });
  });
}

/** The gRPC methods that name an object, as calls of a reader of another project. */
export function readingCalls(
  reader: Asker,
): Readonly<Record<string, (names: ObjectNames) => Promise<unknown>>> {
  const cas = ContentAddressableStorage.method;
  const digestOfNames = ({ hash, size }: ObjectNames) => ({ hash, sizeBytes: BigInt(size) });
  return {
    FindMissingBlobs: (names) =>
      reader.channel.unary(cas.findMissingBlobs, {
        instanceName: names.project,
        blobDigests: [digestOfNames(names)],
      }),
    BatchReadBlobs: (names) =>
      reader.channel.unary(cas.batchReadBlobs, {
        instanceName: names.project,
        digests: [digestOfNames(names)],
      }),
    "BatchReadBlobs of its own project": (names) =>
      reader.channel.unary(cas.batchReadBlobs, {
        instanceName: "team/beta",
        digests: [digestOfNames(names)],
      }),
    GetTree: (names) =>
      all(
        reader.channel.serverStream(cas.getTree, {
          instanceName: names.project,
          rootDigest: digestOfNames(names),
        }),
      ),
    SplitBlob: (names) =>
      reader.channel.unary(cas.splitBlob, {
        instanceName: names.project,
        blobDigest: digestOfNames(names),
      }),
    "ByteStream.Read": (names) =>
      all(
        reader.channel.serverStream(ByteStream.method.read, {
          resourceName: `${names.project}/blobs/${names.hash}/${names.size}`,
        }),
      ),
    "ByteStream.Read of a log": (names) =>
      all(
        reader.channel.serverStream(ByteStream.method.read, {
          resourceName: `${names.project}/logs/${names.execution}/1/stdout`,
        }),
      ),
    GetActionResult: (names) =>
      reader.channel.unary(ActionCache.method.getActionResult, {
        instanceName: names.project,
        actionDigest: digestOfNames(names),
      }),
    WaitExecution: (names) =>
      all(reader.channel.serverStream(Execution.method.waitExecution, { name: names.operation })),
    GetOperation: (names) =>
      reader.channel.unary(Operations.method.getOperation, { name: names.operation }),
    WaitOperation: (names) =>
      reader.channel.unary(Operations.method.waitOperation, { name: names.operation }),
    CancelOperation: (names) =>
      reader.channel.unary(Operations.method.cancelOperation, { name: names.operation }),
    "granaries' Resolve": (names) =>
      reader.channel.unary(Granaries.method.resolve, {
        instanceName: names.project,
        commits: [names.commit],
        environment: "e",
      }),
    "granaries' LookUp": (names) =>
      reader.channel.unary(Granaries.method.lookUp, {
        instanceName: names.project,
        results: [{ namespace: "ccache", key: names.hash }],
      }),
    "granaries' Fetch": async (names) => {
      const packs = await all(
        reader.channel.serverStream(Granaries.method.fetch, {
          instanceName: names.project,
          items: [{ item: { case: "blob", value: digestOfNames(names) } }],
        }),
      );
      // Unpacked, because an answer repeats the digest.
      return Promise.all(
        packs.map(async ({ packed, unpackedBytes }) =>
          fromBinary(FetchedSchema, await unzstdWhole(packed, unpackedBytes)),
        ),
      );
    },
  };
}

/** The requests that open a blob by its digest, through a project. */
function requestsByDigest(
  farm: PrivateFarm,
  project: string,
): Readonly<Record<string, (names: ObjectNames) => Promise<unknown>>> {
  const { token, server } = farm;
  const { BatchReadBlobs, FindMissingBlobs, GetTree, ...calls } = readingCalls(
    farm.asker(project, token),
  );
  const over = async (path: string, method = "GET") => {
    const response = await fetch(`${server.url.replace(/\/$/, "")}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    return {
      status: response.status,
      headers: comparableHeaders(response),
      text: await response.text(),
    };
  };
  const inProject = (call: typeof BatchReadBlobs) => (names: ObjectNames) =>
    call?.({ ...names, project });
  const blob = ({ hash, size }: ObjectNames) => `/api/v1/blobs/${hash}/${size}`;
  const query = `project=${encodeURIComponent(project)}`;
  return {
    BatchReadBlobs: async (names) => inProject(BatchReadBlobs)(names),
    FindMissingBlobs: async (names) => inProject(FindMissingBlobs)(names),
    GetTree: async (names) => inProject(GetTree)(names),
    "ByteStream.Read": async (names) => inProject(calls["ByteStream.Read"])(names),
    "granaries' Fetch": async (names) => inProject(calls["granaries' Fetch"])(names),
    "a blob over HTTP": (names) => over(`${blob(names)}?${query}`),
    "a blob over HTTP, as text": (names) => over(`${blob(names)}?as=text&${query}`),
    "a directory over HTTP": (names) => over(`${blob(names)}/tree?${query}`),
    "Bazel's HTTP cache": ({ hash }) => over(`/cache/${project}/bazel/cas/${hash}`),
    "Bazel's HTTP cache, HEAD": ({ hash }) => over(`/cache/${project}/bazel/cas/${hash}`, "HEAD"),
  };
}

/**
 * Reads the output and the log of a job of another team by their digests, through the project of its repository and
 * through all projects of the reader. Returns the requests whose answers differ from those for digests of nothing.
 */
export async function readByDigest(
  farm: PrivateFarm,
): Promise<{ readonly tried: number; readonly different: readonly string[] }> {
  const { theirs, nobodys, made } = farm;
  const different: string[] = [];
  let tried = 0;
  for (const [what, { hash, sizeBytes }] of Object.entries(made)) {
    const size = String(sizeBytes);
    const [known, unknown] = [
      { ...theirs, hash, size },
      { ...nobodys, size },
    ];
    for (const ofTheirs of [true, false]) {
      const projects = ofTheirs ? [theirs.repository] : ["default", "team/beta"];
      for (const project of projects) {
        const other = ofTheirs ? nobodys.repository : project;
        const ofNothing = requestsByDigest(farm, other);
        for (const [name, request] of Object.entries(requestsByDigest(farm, project))) {
          tried++;
          const said = await outcomeOfCall(request, known);
          const saidOfNothing = await outcomeOfCall(ofNothing[name] ?? request, unknown);
          if (said !== saidOfNothing)
            different.push(
              `${what}, ${name} through ${project}: ${said}, of nothing ${saidOfNothing}`,
            );
        }
      }
    }
  }
  return { tried, different };
}

/** Returns what a caller learns from a call of `readingCalls`: its answer, or its failure. */
export function outcomeOfCall(
  call: (names: ObjectNames) => Promise<unknown>,
  names: ObjectNames,
): Promise<string> {
  return call(names).then(
    (answer) => withoutNames(printed(answer), names),
    (reason: Error & { code?: string }) => withoutNames(`${reason.code}: ${reason.message}`, names),
  );
}

/** Prints bytes and large numbers, too. */
function printed(answer: unknown): string {
  return JSON.stringify(answer, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}

async function all<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of messages) found.push(each);
  return found;
}
