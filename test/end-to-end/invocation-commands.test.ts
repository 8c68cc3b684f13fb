import { afterAll, beforeAll, expect, test } from "vitest";
import { ExecutionDetail } from "#api/execution.ts";
import { InvocationDetail, InvocationList } from "#api/invocation.ts";
import type { FakeFarm } from "../../web/dev/fake-farm.ts";
import { type FakeServer, startFakeServer } from "../../web/dev/fake-server.ts";
import { madeUpFarm } from "../../web/dev/made-up-farm.ts";
import { grangeJson, runGrange } from "../support/run-grange.ts";

let farm: FakeFarm;
let server: FakeServer;

beforeAll(async () => {
  farm = madeUpFarm(new Date());
  server = await startFakeServer(farm, { port: 0 });
});
afterAll(() => server.stop());

const at = () => ["--server", server.url];
const lines = async (...args: string[]) => (await runGrange([...args, ...at()])).stdout;

test("invocations are listed with their requests, for a project or a commit", async () => {
  const all = await lines("invocations");
  const commit = farm.invocations[0]?.detail.build?.commit ?? "";
  const ofCommit = InvocationList.parse(
    await grangeJson(["invocations", "--commit", commit, "--limit", "200", ...at()]),
  );
  const ofProject = InvocationList.parse(
    await grangeJson(["invocations", "--project", "team/app", ...at()]),
  );

  expect(all).toMatch(/failed-one\s+failed\s+default\s+bazel test \/\/lib\/\.\.\./);
  expect(all).toMatch(/large-one.*hits.*executed/);
  expect(ofCommit.invocations.every(({ build }) => build?.commit === commit)).toBe(true);
  expect(ofProject.invocations).toMatchObject([{ id: "recc-1", tool: { name: "recc" } }]);
});

test("an invocation shows its result, its failures and its waiting actions", async () => {
  expect(await lines("invocation", "failed-one")).toMatch(
    /^bazel test .*: failed \(TESTS_FAILED, exit 3\), 1 min 04 s\n35 hits, 25 executed\n/,
  );
  expect(await lines("invocation", "waiting-one")).toContain(
    "the first of them waits for a worker with size=large",
  );
  expect(await lines("invocation", "large-one")).toMatch(/and \d+ more$/m);
  const detail = await grangeJson(["invocation", "recc-1", "--project", "team/app", ...at()]);
  expect(InvocationDetail.parse(detail)).toMatchObject({ state: "over", events: null });
});

test("an invocation shows its targets, its times, its misses, a trace and the shards of a test", async () => {
  const of = (...args: string[]) => lines("invocation", "failed-one", ...args);

  expect(await of("--show", "targets")).toMatch(
    /^state +target .*\nfailed +\/\/lib\/store:store_test .*[SF.]{10}\n/,
  );
  expect(await of("--show", "timing")).toMatch(/^mnemonic[^]*^CppCompile [^]*^longest chain/m);
  expect(await of("--show", "misses")).toMatch(/^cache score: 58 %[^]*1 input file differs\./);
  const trace: unknown = JSON.parse(await of("--show", "trace"));
  expect(trace).toMatchObject({ displayTimeUnit: "ms" });
  expect(await of("--tests", "//lib/store:unit_5")).toMatch(/^1 +1 of 2 +1 +succeeded/m);
  const { stderr } = await runGrange(["invocation", "x", "--show", "trace", "--cancel", ...at()]);
  expect(stderr).toContain("cannot be used with");
});

test("a target shows how it went in the latest builds", async () => {
  const text = await lines("target", "//lib/store:flaky_test", "--limit", "5");

  expect(text).toMatch(/^build +state +tests[^]*^failed-one +(flaky|succeeded) /m);
  expect(await lines("target", "//none")).toContain("No stored build has the target //none");
});

test("an execution shows its command and outputs, and prints its log", async () => {
  const failed = farm.invocations.find(({ detail }) => detail.id === "failed-one");
  const id = failed?.actions.find(({ executionId }) => executionId !== null)?.executionId ?? "";

  const text = await lines("execution", id);
  const detail = ExecutionDetail.parse(await grangeJson(["execution", id, ...at()]));

  expect(text).toMatch(/^TestRunner \/\/lib\/store:unit_5: succeeded, exit 0/);
  expect(text).toContain("  /usr/bin/gcc\n");
  expect(text).toContain(`/api/v1/blobs/${detail.outputs[0]?.kind === "file" ? "" : "?"}`);
  expect(await lines("execution", id, "--log")).toBe("compiled\n");
  expect(await lines("execution", id, "--stderr")).toContain("unused");
});

test("an invocation is cancelled by its id", async () => {
  const detail = await grangeJson(["invocation", "waiting-one", "--cancel", ...at()]);

  expect(InvocationDetail.parse(detail)).toMatchObject({ state: "cancelled" });
  expect(farm.invocations[0]?.detail.state).toBe("cancelled");
});
