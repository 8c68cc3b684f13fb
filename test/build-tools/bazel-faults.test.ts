import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Farm, startFarm } from "../support/farm.ts";
import { needs } from "../support/needs/needs.ts";
import type { Program } from "../support/process.ts";
import {
  assertGreen,
  type Bazel,
  type BazelRun,
  bazelNeed,
  processesIn,
  startBazel,
} from "./bazel.ts";
import { type BazelWorkspace, bazelWorkspace } from "./bazel-workspace.ts";
import { loseBlobs } from "./lose-blobs.ts";

const leaves = 24;
const actions = leaves + leaves / 4 + 1;
/** Two workers with two slots each. */
const slots = 4;

/** Three layers; each action takes long enough for a fault during the build. */
const layers = `
[genrule(
    name = "leaf%d" % i,
    srcs = ["round.txt"],
    outs = ["leaf%d.txt" % i],
    cmd = "sleep 0.4; (echo leaf %d; cat $(SRCS)) > $@" % i,
) for i in range(${leaves})]

[genrule(
    name = "branch%d" % i,
    srcs = ["leaf%d.txt" % (4 * i + j) for j in range(4)],
    outs = ["branch%d.txt" % i],
    cmd = "sleep 0.2; (echo branch %d; cat $(SRCS)) > $@" % i,
) for i in range(${leaves / 4})]

genrule(
    name = "root",
    srcs = ["branch%d.txt" % i for i in range(${leaves / 4})],
    outs = ["root.txt"],
    cmd = "(echo root; cat $(SRCS)) > $@",
)
`;

describe("Bazel's build succeeds without intervention", needs(bazelNeed), () => {
  let workspace: BazelWorkspace;
  let bazel: Bazel;
  let farm: Farm;

  beforeAll(async () => {
    [farm, workspace] = await Promise.all([
      startFarm({ workers: 2 }),
      bazelWorkspace({ "faults/BUILD": layers, "faults/round.txt": "" }),
    ]);
    bazel = await startBazel(workspace.path);
    await bazel.run("build", "--nobuild", "//faults:root");
  });

  afterAll(async () => {
    await bazel?.close();
    await farm?.stop();
    await workspace?.remove();
  });

  const flags = () => [
    "--config=farm",
    "--jobs=16",
    `--remote_executor=${farm.url.replace("http:", "grpc:")}`,
    "--remote_instance_name=faults",
    // The default of 5 gives up after 3 seconds; a killed database may take longer to restart.
    "--remote_retries=12",
    "--show_progress_rate_limit=0.05",
  ];

  let rounds = 0;
  /** Starts a new build, and waits until a third of it is done. */
  async function inTheMiddle(round: string): Promise<Program> {
    await workspace.write("faults/round.txt", `${round} ${++rounds}\n`);
    const build = bazel.start("build", "//faults:root", ...flags());
    await build.note((line) => Number(/^\[(\d+) \//.exec(line)?.[1] ?? 0) > actions / 3);
    return build;
  }

  async function ended(build: Program): Promise<Pick<BazelRun, "text" | "processes">> {
    const { code, stderr } = await build.finished;
    assertGreen({ code, text: stderr });
    return { text: stderr, processes: processesIn(stderr) };
  }

  async function executed(): Promise<number> {
    const workers = (await (await fetch(`${farm.url}/api/v1/workers`)).json()) as {
      finishedCount: number;
    }[];
    return workers.reduce((sum, { finishedCount }) => sum + finishedCount, 0);
  }

  test("if the server is killed and restarted during the build, and repeats at most the running actions", async () => {
    const before = await executed();
    const build = await inTheMiddle("server");

    farm.server.signal("SIGKILL");
    await farm.restartServer();
    await ended(build);

    expect((await executed()) - before).toBeGreaterThanOrEqual(actions);
    expect((await executed()) - before).toBeLessThanOrEqual(actions + slots);
  });

  test("if one of two workers is killed during the build, and repeats at most its running actions", async () => {
    const before = await executed();
    const build = await inTheMiddle("worker");

    const worker = farm.workers.pop();
    worker?.signal("SIGKILL");
    await worker?.finished;
    await ended(build);

    expect((await executed()) - before).toBeLessThanOrEqual(actions + slots / 2);
    farm.startWorker({ name: "worker-2" });
  });

  test("if a tenth of all blobs is lost during the build", async () => {
    const build = await inTheMiddle("lost in the middle");

    const lost = await loseBlobs(farm.dataDir, "one");
    const { processes } = await ended(build);

    expect(lost.length).toBeGreaterThan(5);
    expect(processes["remote"]).toBe(actions);
  });

  test("if a tenth of all blobs is lost between builds, and executes only the actions that made them", async () => {
    await ended(await inTheMiddle("lost between"));
    const outputs = new Set(Object.values(await bazel.outputs()));
    await bazel.run("clean");
    const before = await executed();

    const lost = await loseBlobs(farm.dataDir, "two");
    const again = await bazel.run("build", "//faults:root", ...flags());

    assertGreen(again);
    // Each action made one output, which is one blob. The client still has lost inputs, and sends them again.
    const lostOutputs = lost.filter((hash) => outputs.has(hash)).length;
    expect(lostOutputs).toBeGreaterThan(0);
    expect((await executed()) - before).toBe(lostOutputs);
    expect(again.processes["remote cache hit"]).toBe(actions - lostOutputs);
  });
});
