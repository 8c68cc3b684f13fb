import { afterAll, beforeAll, expect, test } from "vitest";
import { CreatedToken } from "#api/access.ts";
import { Graph } from "#api/graph.ts";
import type { Project } from "#api/project.ts";
import type { RepositorySettings } from "#api/repository-settings.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { askServer, postTo } from "../support/ask-server.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";
import { type SampleRepository, sampleRepository } from "../support/sample-repository.ts";

/** With the commands, as a job's log has them. */
const logText = `$ printf 'an output of alpha' > out.txt
$ echo a log of alpha
a log of alpha
`;
const blobs: Readonly<Record<"source" | "output" | "log", Digest>> = {
  source: digestOf(Buffer.from("a source of alpha")),
  output: digestOf(Buffer.from("an output of alpha")),
  log: digestOf(Buffer.from(logText)),
};

let farm: FarmHere;
let repository: SampleRepository;
let graph: Graph;
const tokens: Record<string, string> = {};
const channels: GrpcChannel[] = [];

const env = (who: string) => ({ GRANGE_TOKEN: tokens[who] ?? "", GRANGE_SERVER: farm.url });

async function tokenOf(principal: string, grants: Readonly<Record<string, string>>) {
  const made = await postTo(farm, "/tokens", { principal }, tokens["root"]);
  tokens[principal] = CreatedToken.parse(made).token;
  for (const [verb, where] of Object.entries(grants))
    await postTo(farm, "/grants", { principal, verb, repository: where }, tokens["root"]);
}

/** Submits the repository's commit as the owner, and returns the graph after its end. */
async function runGraph(...args: string[]): Promise<Graph> {
  await runGrange(["submit", "--repo", repository.path, "--rev", "main", "--wait", ...args], {
    env: env("root"),
  });
  const { body } = await askServer(farm, "GET", "/graphs?limit=1", undefined, tokens["root"]);
  const [{ id }] = body as [{ id: string }];
  return Graph.parse(
    (await askServer(farm, "GET", `/graphs/${id}`, undefined, tokens["root"])).body,
  );
}

/** Which of the blobs a caller can read through a project, by gRPC and by HTTP. */
async function opened(who: string, project: string): Promise<string[]> {
  const metadata = { authorization: `Bearer ${tokens[who]}` };
  const channel = new GrpcChannel({ url: farm.url, metadata: () => metadata });
  channels.push(channel);
  const store = remoteBlobStore(channel, project);
  const found: string[] = [];
  for (const [name, digest] of Object.entries(blobs)) {
    const bytes = await store.get(digest).catch(() => undefined);
    if (bytes !== undefined) found.push(`${name} by gRPC`);
    const missing = await store.findMissing([digest]).catch(() => [digest]);
    if (missing.length === 0) found.push(`${name} by FindMissing`);
    for (const path of [
      `/api/v1/blobs/${digestKey(digest)}?project=${encodeURIComponent(project)}`,
      `/cache/${project}/bazel/cas/${digest.hash}`,
    ]) {
      const response = await fetch(`${farm.url}${path}`, { headers: metadata });
      await response.body?.cancel();
      if (response.ok) found.push(`${name} by ${path.split("/")[1]}`);
    }
  }
  return found;
}

beforeAll(async () => {
  [farm, repository] = await Promise.all([
    startFarmHere({ workers: 0 }),
    sampleRepository({
      "source.txt": "a source of alpha",
      ".grange/farm.yml": `version: 1
jobs:
  build:
    inputs: [source.txt]
    commands:
      - printf 'an output of alpha' > out.txt
      - echo a log of alpha
    outputs: [out.txt]
  pack:
    inputs: []
    needs: {build: {outputs: [out.txt]}}
    commands: cp out.txt packed.txt
    outputs: [packed.txt]
  parts:
    inputs: []
    commands: mkdir -p parts && for item in $GRANGE_ITEMS; do echo $item > parts/$item; done
    chunks: {items: [a, b], max: 1}
    outputs: [parts]
  pretended:
    kind: dummy
    outputs: [pretended.txt]
  uses-pretended:
    inputs: []
    needs: {pretended: {outputs: [pretended.txt]}}
    commands: cat pretended.txt
`,
    }),
  ]);
  tokens["root"] = CreatedToken.parse(await postTo(farm, "/tokens", { principal: "root" })).token;
  await postTo(farm, "/grants", { principal: "root", verb: "*", top: true });
  await askServer(farm, "PUT", "/access", { access: "private" }, tokens["root"]);
  await tokenOf("machine", { work: "*" });
  await farm.startWorker({ token: tokens["machine"] ?? "" });
  graph = await runGraph();
  await tokenOf("ann", { "role:viewer": graph.repository });
  await tokenOf("ben", { "role:developer": "beta", read: "default", execute: "default" });
}, 120_000);
afterAll(async () => {
  await Promise.all(channels.map((channel) => channel.stop()));
  await farm?.stop();
  await repository?.remove();
});

test("on a private farm, a graph with all kinds of jobs works in a project of its repository's name", () => {
  expect(graph.project).toBe(graph.repository);
  expect(Object.fromEntries(graph.jobList.map(({ name, state }) => [name, state]))).toEqual({
    build: "succeeded",
    pack: "succeeded",
    parts: "succeeded",
    pretended: "succeeded",
    "uses-pretended": "succeeded",
  });
});

test("who may read the repository opens its blobs by digest through its project", async () => {
  const found = await opened("ann", graph.project);

  expect(found.length).toBeGreaterThanOrEqual(9);
  for (const name of Object.keys(blobs)) {
    expect(found).toContain(`${name} by gRPC`);
    expect(found).toContain(`${name} by api`);
    expect(found).toContain(`${name} by cache`);
  }
});

test("who may not read the repository opens none, through any project", async () => {
  const found = [];
  for (const project of ["default", "beta", graph.project])
    found.push(...(await opened("ben", project)));

  expect(found).toEqual([]);
});

test("logs and outputs of a run are read through its graph", async () => {
  const run = `/graphs/${graph.id}/jobs/build/runs/1`;
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${tokens["ann"]}` };
    return (await fetch(`${farm.url}/api/v1${run}${path}`, { headers })).text();
  };

  expect(await read("/log")).toBe(logText);
  expect(await read("/outputs/out.txt")).toBe("an output of alpha");
});

test("a job reports from outside only files of the graph's own project", async () => {
  const metadata = { authorization: `Bearer ${tokens["root"]}` };
  const channel = new GrpcChannel({ url: farm.url, metadata: () => metadata });
  channels.push(channel);
  const stranger = remoteBlobStore(channel, "default");
  const bytes = Buffer.from("in another project");
  await stranger.put(digestOf(bytes), bytes);
  const report = {
    id: "one",
    state: "finished",
    outcome: "succeeded",
    outputs: [{ path: "out.txt", digest: digestKey(digestOf(bytes)) }],
  };

  const answer = await askServer(
    farm,
    "POST",
    `/graphs/${graph.id}/jobs/build/report`,
    report,
    tokens["root"],
  );

  expect(answer).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining(`not in the project ${graph.project}`) } },
  });
});

test("an administrator moves the next graphs of a repository into another project, by command", async () => {
  const { repository: name } = graph;
  const shown = async () =>
    (await grangeJson(["repository", "show", name], { env: env("ann") })) as RepositorySettings;
  const before = await shown();
  const byAnn = await runGrange(["repository", "set", name, "--project", "default"], {
    env: env("ann"),
  });
  const illegal = await askServer(
    farm,
    "PUT",
    `/repositories/${encodeURIComponent(name)}/settings`,
    { project: "a/blobs/b" },
    tokens["root"],
  );
  await grangeJson(["repository", "set", name, "--project", "shared"], { env: env("root") });
  const next = await runGraph();
  const old = await fetch(`${farm.url}/api/v1/graphs/${graph.id}/jobs/build/runs/1/log`, {
    headers: { authorization: `Bearer ${tokens["ann"]}` },
  });
  const projects = (await grangeJson(["project"], { env: env("root") })) as Project[];
  const removed = await runGrange(["project", "shared", "--remove", "--with-blobs"], {
    env: env("root"),
  });

  expect(before.project).toBe(name);
  expect(byAnn.code).not.toBe(0);
  expect(byAnn.stderr).toContain("may not administer");
  expect(illegal).toMatchObject({ status: 400 });
  expect(await shown()).toEqual({ ...before, project: "shared" });
  expect([next.project, next.state]).toEqual(["shared", "succeeded"]);
  // Nothing of the other project is found again.
  expect(next.jobList.find((job) => job.name === "build")?.cached).toBe(false);
  expect(await old.text()).toBe(logText);
  expect(projects.find((project) => project.name === "shared")).toMatchObject({
    repositories: [name],
    begunBy: null,
  });
  expect(removed.stdout).toContain(`the repository ${name} keeps its blobs there`);
}, 60_000);
