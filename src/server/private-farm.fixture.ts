import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { z } from "zod";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { Digest } from "#core/digest.ts";
import { readingVerbs } from "#core/verb.ts";
import {
  ActionResultSchema,
  Execution,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { askServer, postTo } from "../../test/support/ask-server.ts";
import { sampleRepository } from "../../test/support/sample-repository.ts";
import type { Services } from "./services.ts";
import { aClosedFarm, thingsNamed, upload } from "./two-projects.fixture.ts";

/** Names of objects as callers write them: of another project's objects, or of objects that never existed. */
export interface ObjectNames {
  readonly repository: string;
  readonly address: string;
  readonly project: string;
  readonly commit: string;
  readonly graph: string;
  readonly job: string;
  readonly catalog: string;
  readonly execution: string;
  readonly operation: string;
  readonly hash: string;
  readonly size: string;
}

const definitions = (job: string) =>
  ["version: 1", "jobs:", `  ${job}:`, "    inputs: []", "    commands: echo hello", ""].join("\n");

/** A job that a worker of the fixture ends: no other worker serves its pool. */
const endedJob = [
  "  ended:",
  "    inputs: []",
  "    platform: {pool: ended}",
  "    commands: make",
  "    outputs: out",
  "",
].join("\n");

/**
 * A private farm with the repository and the project of one team, and a reader of another team.
 *
 * `theirs` are the names of that team's objects, and `nobodys` names of the same form without objects.
 */
export async function aPrivateFarm(database: "shared" | "own" = "shared") {
  // Thousands of requests come from one caller, and a refusal for their number would look like a difference.
  const farm = await aClosedFarm({ GRANGE_REQUEST_LIMITS: "100" }, database);
  const root = await farm.tokenOf("second-root", ["*"]);
  await askServer(farm.server, "PUT", "/access", { access: "private" }, root);
  const team = await sampleRepository({
    ".grange/farm.yml": definitions("alpha-job") + endedJob,
  });
  const source = await sampleRepository({ ".grange/farm.yml": definitions("own-job") });
  // Its name is unlike that of the other team's: messages propose similar names that the caller may know of.
  const own = join(source.path, "beta");
  await source.git("clone", "--quiet", ".", own);
  const Submitted = z.object({ id: z.string() });
  const submit = async (path: string) =>
    Submitted.parse(await postTo(farm.server, "/graphs", { repository: path, rev: "main" }, root))
      .id;
  const graph = await submit(team.path);
  const ownGraph = await submit(own);
  const Shown = z.object({ repository: z.string(), commit: z.string(), templates: z.string() });
  const shown = async (id: string) =>
    Shown.parse((await askServer(farm.server, "GET", `/graphs/${id}`, undefined, root)).body);
  const { repository, commit, templates } = await shown(graph);
  const made = await endJob(farm.server.services);

  const builder = farm.asker(
    "team/alpha",
    await farm.tokenOf("alpha-ci", ["execute"], "team/alpha"),
  );
  const things = thingsNamed("of the team alpha");
  await upload(builder, things.bytes);
  const operation = await queuedOperation(builder, toDigestMessage(things.action));
  const [row] = await farm.server.services.db.many(z.object({ id: z.string() }), {
    text: "select execution_id as id from operation",
    values: [],
  });

  const ownName = (await shown(ownGraph)).repository;
  const token = await farm.tokenOf("beta-reader", readingVerbs, ownName);
  for (const verb of [...readingVerbs, "execute"])
    await postTo(
      farm.server,
      "/grants",
      { principal: "beta-reader", verb, repository: "team/beta" },
      root,
    );
  // The project of build tools that name none.
  for (const verb of ["read", "execute"])
    await postTo(
      farm.server,
      "/grants",
      { principal: "beta-reader", verb, repository: "default" },
      root,
    );

  const theirs: ObjectNames = {
    repository,
    address: team.path,
    project: builder.project,
    commit,
    graph,
    job: "alpha-job",
    catalog: templates,
    execution: row?.id ?? "",
    operation,
    hash: things.file.hash,
    size: String(things.file.sizeBytes),
  };
  const nobodys: ObjectNames = {
    repository: "x".repeat(repository.length),
    address: team.path.replace(/.{6}$/, "ZZZZZZ"),
    project: "team/gamma",
    commit: commit.replaceAll(/[0-9a-f]/g, "c"),
    graph: randomUUID(),
    job: "gamma-job",
    catalog: digestOf(Buffer.from("no catalog")).hash + templates.slice(64),
    execution: randomUUID(),
    operation: operation.replace(/[0-9a-f-]{36}/, randomUUID()),
    hash: digestOf(Buffer.from("no blob")).hash,
    size: String(things.file.sizeBytes),
  };
  return {
    ...farm,
    root,
    /** Reads its own repository and its own project. */
    token,
    ownGraph,
    theirs,
    nobodys,
    /** The output and the log of a job of `theirs.repository`. */
    made,
    async stop() {
      await farm.stop();
      await Promise.all([team.remove(), source.remove()]);
    },
  };
}

/** Does the work of a worker: ends the only job of its pool with an output and a log. */
async function endJob({ queue, blobsOf }: Services): Promise<{ output: Digest; log: Digest }> {
  const worker = { name: "of-the-fixture", instanceId: randomUUID() };
  await queue.register({
    ...worker,
    platform: { pool: "ended" },
    sizeClass: 1,
    slots: 1,
    cpus: null,
    memoryBytes: null,
    version: "0",
    facilities: {},
    transport: "pull",
    host: "",
    leaseMs: null,
    images: [],
  });
  const [leased] = await queue.claim(worker, 1, 60_000, new AbortController().signal);
  if (leased === undefined) throw new Error("the job was not queued");
  await queue.started(leased.lease, new Date());
  const store = blobsOf(leased.project);
  const [output, log] = [Buffer.from("an output of alpha"), Buffer.from("a log of alpha")];
  for (const bytes of [output, log]) await store.put(digestOf(bytes), bytes);
  const result = create(ActionResultSchema, {
    outputFiles: [{ path: "out", digest: toDigestMessage(digestOf(output)) }],
    stdoutDigest: toDigestMessage(digestOf(log)),
  });
  await queue.finish({
    lease: leased.lease,
    outcome: "succeeded",
    exitCode: 0,
    result: toBinary(ActionResultSchema, result),
  });
  return { output: digestOf(output), log: digestOf(log) };
}

/** Returns the name of an operation that waits for a worker. */
async function queuedOperation(
  { channel, project }: ReturnType<Awaited<ReturnType<typeof aClosedFarm>>["asker"]>,
  actionDigest: ReturnType<typeof toDigestMessage>,
): Promise<string> {
  const leaving = new AbortController();
  const request = { instanceName: project, actionDigest };
  const answers = channel.serverStream(Execution.method.execute, request, {
    signal: leaving.signal,
  });
  for await (const { name } of answers) {
    leaving.abort();
    return name;
  }
  throw new Error("no operation was opened");
}
