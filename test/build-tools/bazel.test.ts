import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { InvocationDetail, InvocationList } from "#api/invocation.ts";
import type { InvocationTargets, TestAttempts } from "#api/invocation-targets.ts";
import {
  type DockerRegistry,
  registryNeed,
  startDockerRegistry,
} from "../support/docker-registry.ts";
import { type Farm, startFarm } from "../support/farm.ts";
import { needs } from "../support/needs/needs.ts";
import { assertGreen, type Bazel, type BazelRun, bazelNeed, startBazel } from "./bazel.ts";
import { imageForBazel } from "./bazel-images.ts";
import { type BazelWorkspace, bazelWorkspace } from "./bazel-workspace.ts";

const all = ["//gen/...", "//cc/...", "//trees/...", "//shell/...", "//java/..."];

describe("Bazel, locally and with a farm", needs(bazelNeed, registryNeed), () => {
  let workspace: BazelWorkspace;
  let bazel: Bazel;
  let farm: Farm;
  let alone: Record<string, string>;
  let registry: DockerRegistry;
  let image: Awaited<ReturnType<typeof imageForBazel>>;

  beforeAll(async () => {
    registry = await startDockerRegistry();
    image = await imageForBazel(registry);
    const env = {
      GRANGE_PRIVATE_HOSTS: "127.0.0.1",
      GRANGE_REGISTRIES: registry.origin,
      GRANGE_WORKER_REGISTRIES: registry.origin,
    };
    [farm, workspace] = await Promise.all([
      startFarm({ workers: 1, env }),
      bazelWorkspace(image.files),
    ]);
    farm.startWorker({ env });
    bazel = await startBazel(workspace.path);
    const local = await bazel.run("test", ...all);
    assertGreen(local);
    alone = await bazel.outputs();
  });

  afterAll(async () => {
    await bazel?.close();
    await farm?.stop();
    await registry?.stop();
    await workspace?.remove();
  });

  let projects = 0;
  /** A new project for each call, so that a repeated test starts without results. */
  const unused = (name: string) => `${name}-${++projects}`;

  const address = () => farm.url.replace("http:", "grpc:");

  async function afresh(...flags: string[]): Promise<BazelRun> {
    await bazel.run("clean");
    const run = await bazel.run("test", ...all, ...flags);
    assertGreen(run);
    return run;
  }

  /**
   * The build succeeds; a second one after `bazel clean` uses only the cache; and the outputs are those of a build
   * without a farm.
   */
  async function buildTwice(...flags: string[]): Promise<BazelRun> {
    const first = await afresh(...flags);
    const firstOutputs = await bazel.outputs();
    const second = await afresh(...flags);

    const { internal = 0, "remote cache hit": hits = 0, ...others } = second.processes;
    expect(others).toEqual({});
    expect(hits).toBeGreaterThan(30);
    expect(internal).toBeGreaterThan(0);
    expect(firstOutputs).toEqual(alone);
    expect(await bazel.outputs()).toEqual(alone);
    return first;
  }

  test("with local execution, the second build finds its results in the cache over gRPC", async () => {
    const first = await buildTwice(
      `--remote_cache=${address()}`,
      `--remote_instance_name=${unused("cache-over-grpc")}`,
    );

    expect(madeHere(first)).toBeGreaterThan(30);
  });

  test("with local execution, the second build finds its results in the cache over HTTP", async () => {
    const first = await buildTwice(`--remote_cache=${farm.url}/cache/${unused("over-http")}/bazel`);

    expect(madeHere(first)).toBeGreaterThan(30);
  });

  test("the farm executes its actions, reports them, and repeats none", async () => {
    const project = unused("execution");
    const first = await buildTwice(
      "--config=farm",
      `--remote_executor=${address()}`,
      `--remote_instance_name=${project}`,
      `--bes_backend=${address()}`,
      `--project_id=${project}`,
      "--build_metadata=COMMIT_SHA=00112233445566778899aabbccddeeff00112233",
    );
    const { invocations } = await ask<InvocationList>(`/invocations?project=${project}`);
    const [second, firstOne] = await Promise.all(
      invocations.map(({ id }) => ask<InvocationDetail>(`/invocations/${id}?project=${project}`)),
    );

    expect(madeHere(first)).toBe(0);
    expect(first.processes["remote"]).toBeGreaterThan(30);
    expect(invocations).toHaveLength(2);
    expect(firstOne).toMatchObject({
      state: "succeeded",
      tool: { name: "bazel" },
      counts: { queued: 0, executing: 0, succeeded: first.processes["remote"], failed: 0 },
      build: {
        command: "test",
        commit: "00112233445566778899aabbccddeeff00112233",
        exitName: "SUCCESS",
      },
      events: { complete: true },
    });
    expect(second).toMatchObject({ state: "succeeded", counts: { succeeded: 0, failed: 0 } });
    expect(second?.events?.targets.map(({ label }) => label)).toContain("//shell:sharded_test");
    const tests = await ask<TestAttempts>(
      `/invocations/${firstOne?.id}/tests?project=${project}&label=//shell:sharded_test`,
    );
    expect(tests.attempts.map(({ shard, shards, attempt }) => [shard, shards, attempt])).toEqual([
      [1, 3, 1],
      [2, 3, 1],
      [3, 3, 1],
    ]);
  });

  test("a test that fails once is run again by the farm, and is flaky", async () => {
    await workspace.write("shell/fails-until.txt", `${Math.floor(Date.now() / 1_000) + 8}\n`);

    const project = unused("flaky");
    const run = await bazel.run(
      "test",
      "//shell:flaky_test",
      "--config=farm",
      `--remote_executor=${address()}`,
      `--remote_instance_name=${project}`,
    );

    assertGreen(run);
    expect(run.text).toContain("FLAKY, failed in 1 out of 2");
    // Without build events: by the actions alone.
    const { invocations } = await ask<InvocationList>(`/invocations?project=${project}`);
    const { targets } = await ask<InvocationTargets>(
      `/invocations/${invocations[0]?.id}/targets?project=${project}&text=flaky_test`,
    );
    expect(targets).toMatchObject([{ label: "//shell:flaky_test", state: "flaky" }]);
    const { attempts } = await ask<TestAttempts>(
      `/invocations/${invocations[0]?.id}/tests?project=${project}&label=//shell:flaky_test`,
    );
    expect(attempts.map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, "failed"],
      [2, "succeeded"],
    ]);
  });

  const inImage = () => [
    "--config=farm",
    `--remote_executor=${address()}`,
    `--remote_instance_name=${unused("image")}`,
  ];
  const platform = (name: string) => [
    `--host_platform=//platforms:${name}`,
    `--extra_execution_platforms=//platforms:${name}`,
  ];
  const made = (name: string) => readFile(join(workspace.path, "bazel-bin/image", name), "utf8");

  test.each([
    { of: "a platform with exec_properties", flags: () => platform("image") },
    {
      of: "a tag by a flag, and flags of Docker",
      flags: () => [
        `--remote_default_exec_properties=container-image=${image.tagged}`,
        "--experimental_enable_docker_sandbox",
        `--experimental_docker_image=${image.tagged.replace("docker://", "")}`,
      ],
    },
  ])(
    "actions run in the image of $of, and a second build finds their results",
    async ({ flags }) => {
      const all = [...inImage(), ...flags(), "//image/..."];

      await bazel.run("clean");
      const cold = await bazel.run("test", ...all);
      assertGreen(cold);
      expect(await made("inside.txt")).toBe("inside\n");
      expect(cold.processes["remote"]).toBeGreaterThanOrEqual(2);
      await bazel.run("clean");
      const warm = await bazel.run("test", ...all);

      assertGreen(warm);
      expect(await made("inside.txt")).toBe("inside\n");
      const kinds = Object.keys(warm.processes).filter((kind) => kind !== "internal");
      expect(kinds).toEqual(["remote cache hit"]);
    },
  );

  test("a target has an image of its own, and refused properties fail an action with the reason", async () => {
    assertGreen(await bazel.run("build", ...inImage(), ...platform("image"), "//image:outside"));
    expect(await made("outside.txt")).toBe("outside\n");

    const { code, text } = await bazel.run(
      "build",
      ...inImage(),
      ...platform("privileged"),
      "//image:inside",
    );

    expect(code).not.toBe(0);
    expect(text).toContain("dockerPrivileged");
  });

  /** In any sandbox of Bazel that this machine supports. */
  function madeHere({ processes }: BazelRun): number {
    return (processes["linux-sandbox"] ?? 0) + (processes["processwrapper-sandbox"] ?? 0);
  }

  async function ask<T>(path: string): Promise<T> {
    const answer = await fetch(`${farm.url}/api/v1${path}`);
    expect(answer.status).toBe(200);
    return (await answer.json()) as T;
  }
});
