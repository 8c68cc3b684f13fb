import { create, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildDirectoryTree, uploadDirectories } from "#cas/build-directory-tree.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { digestKey } from "#core/digest.ts";
import { sql } from "#db/sql.ts";
import { aRequest } from "#execution/execution.fixture.ts";
import { ExecutionId } from "#execution/execution.ts";
import { farmOfGraphs } from "#graphs/farm-of-graphs.fixture.ts";
import { jobDetail } from "#graphs/job-detail.store.ts";
import { anInvocation, anOperation } from "#invocations/pages/invocation-rows.fixture.ts";
import {
  ActionResultSchema,
  ActionSchema,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { freshDb } from "../../test/support/fresh-db.ts";
import { compareExecutions } from "./compare-executions.ts";
import { executionFailure } from "./execution-failure.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfGraphs>>;
beforeAll(async () => {
  farm = await farmOfGraphs(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const everything = () => true;
const services = () => ({ db, blobsOf: () => farm.store });
const failureOf = async (id: ExecutionId, mayReadLogs = true) =>
  (await executionFailure(services(), id, { mayRead: everything, mayReadLogs }))?.failure;

describe("a job of a graph", () => {
  /** Commits files and runs the graph of the commit. */
  async function run(level: string, isBroken: boolean) {
    farm.repository.write({
      ".grange/jobs.yml": `version: 1\njobs:\n  build: {commands: make, inputs: [in.txt, same.txt], environment: {LEVEL: "${level}"}}`,
      "in.txt": level,
      "same.txt": "same",
    });
    farm.repository.commit(level);
    const { id } = await farm.submit({ skipCache: true });
    await farm.work(() =>
      isBroken ? { exitCode: 2, log: "cc a.c\na.c:1:2: error: no\nmake: *** Error 2\n" } : {},
    );
    const execution = (await jobDetail(db, id, "build"))?.runList[0]?.executionId;
    return { graph: id, execution: ExecutionId.parse(execution) };
  }

  test("is compared with its last success on the branch: variables, and files by path", async () => {
    const good = await run("one", false);
    const bad = await run("two", true);
    const worse = await run("three", true);

    const found = await compareExecutions(services(), worse.execution, undefined, everything);

    expect(found?.before).toMatchObject({ executionId: good.execution, outcome: "succeeded" });
    expect(found?.before?.job).toMatchObject({ graph: good.graph, name: "build", run: 1 });
    expect(found?.differences).toMatchObject({
      isSameAction: false,
      command: [{ part: "environment", name: "LEVEL", before: "one", after: "three" }],
      inputs: [{ path: "in.txt", change: "changed" }],
      unreadable: null,
    });
    const failure = await failureOf(worse.execution);
    expect(failure).toMatchObject({ outcome: "failed", exitCode: 2, flaky: false });
    expect(failure?.lastPassed?.executionId).toBe(good.execution);
    expect(failure?.firstFailed.executionId).toBe(bad.execution);
    expect(failure?.log?.lines.filter(({ isError }) => isError)).toEqual([
      { text: "a.c:1:2: error: no", isError: true },
    ]);
  });

  test("is as if it had no past for a caller who may not read its repository", async () => {
    await run("a", false);
    const bad = await run("b", true);

    const found = await compareExecutions(services(), bad.execution, undefined, () => false);

    expect(found).toMatchObject({ before: null, differences: null, after: { job: null } });
  });

  test("shows no log without the right, and no failure when it succeeded", async () => {
    const bad = await run("x", true);
    const good = await run("y", false);

    expect((await failureOf(bad.execution, false))?.log).toBeNull();
    expect(await failureOf(good.execution)).toBeNull();
  });
});

describe("an action of a build tool", () => {
  beforeEach(() => db.run(sql`truncate invocation, operation, cache_lookup cascade`));

  /** Stores an action that compiles `source` to `output`, and its ended execution for an invocation. */
  async function anExecution(
    invocation: string,
    second: number,
    {
      outcome = "succeeded",
      output = "a.o",
      source = "1",
      flag = "-O1",
      target = "//a",
      project = "p",
    } = {},
  ) {
    const { store } = farm;
    const tree = buildDirectoryTree([
      { kind: "file", path: "src/a.c", digest: digestOf(Buffer.from(source)), executable: false },
    ]);
    const command = toBinary(
      CommandSchema,
      create(CommandSchema, { arguments: ["cc", flag, "-c", "src/a.c"], outputPaths: [output] }),
    );
    await store.put(digestOf(command), command);
    const action = toBinary(
      ActionSchema,
      create(ActionSchema, {
        commandDigest: toDigestMessage(digestOf(command)),
        inputRootDigest: toDigestMessage(await uploadDirectories(store, tree)),
      }),
    );
    await store.put(digestOf(action), action);
    const request = aRequest({ actionDigest: digestOf(action), invocation, project });
    await farm.queue.submit(request);
    const result = create(ActionResultSchema, {
      exitCode: outcome === "succeeded" ? 0 : 1,
      stderrRaw: Buffer.from(
        outcome === "succeeded" ? "" : `${"x\n".repeat(50_000)}src/a.c:1:2: error: no\n`,
      ),
    });
    await db.run(sql`
      update execution set state = 'finished', outcome = ${outcome}, exit_code = ${result.exitCode},
        finished_at = queued_at, result = ${Buffer.from(toBinary(ActionResultSchema, result))}
      where id = ${request.id}
    `);
    await anInvocation(db, invocation, { project, second });
    await anOperation(db, invocation, {
      executionId: request.id,
      project,
      target,
      second,
      outcome,
    });
    await db.run(sql`
      update operation set action_digest = ${digestKey(digestOf(action))}
      where execution_id = ${request.id}
    `);
    return request.id;
  }

  test("is compared with the last success that made the same output for the same target", async () => {
    const good = await anExecution("i1", 1);
    await anExecution("i2", 2, { output: "b.o" });
    await anExecution("i3", 3, { target: "//other" });
    const first = await anExecution("i4", 4, { outcome: "failed", source: "2" });
    const bad = await anExecution("i5", 5, { outcome: "failed", source: "3", flag: "-O2" });

    const found = await compareExecutions(services(), bad, undefined, everything);

    expect(found?.before).toMatchObject({ executionId: good, request: { invocation: "i1" } });
    expect(found?.differences).toMatchObject({
      command: [{ part: "argument", name: "1", before: "-O1", after: "-O2" }],
      inputs: [{ path: "src/a.c", change: "changed" }],
    });
    const failure = await failureOf(bad);
    expect(failure).toMatchObject({ source: "src/a.c", flaky: false });
    expect(failure?.firstFailed.executionId).toBe(first);
    // The error is at the end of a long output.
    expect(failure?.log?.lines.at(-1)).toEqual({ text: "src/a.c:1:2: error: no", isError: true });
  });

  test("whose equal action succeeded before is flaky", async () => {
    await anExecution("i1", 1);
    const bad = await anExecution("i2", 2, { outcome: "failed" });

    expect(await failureOf(bad)).toMatchObject({ flaky: true });
    const found = await compareExecutions(services(), bad, undefined, everything);
    expect(found?.differences).toMatchObject({ isSameAction: true });
  });

  test("is compared with a given one of the same project only", async () => {
    const one = await anExecution("i1", 1, { outcome: "failed" });
    const two = await anExecution("i2", 2, { source: "2" });
    const elsewhere = await anExecution("i3", 3, { project: "q" });

    const found = await compareExecutions(services(), two, one, everything);

    expect(found?.before?.executionId).toBe(one);
    await expect(compareExecutions(services(), two, elsewhere, everything)).rejects.toThrow(
      "compare executions of one project",
    );
  });
});
