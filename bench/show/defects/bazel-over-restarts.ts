import { type Bazel, bazelNeed, startBazel } from "../../../test/build-tools/bazel.ts";
import { bazelWorkspace } from "../../../test/build-tools/bazel-workspace.ts";
import { startFarm } from "../../../test/support/farm.ts";
import type { Row } from "../row.ts";

const rounds = 10;
/** The actions of a build, of 0.4 s each. */
export const leaves = 40;

/** Four slots, and actions so long that the server dies while some run. */
const targets = `
[genrule(
    name = "leaf%d" % i,
    srcs = ["round.txt"],
    outs = ["leaf%d.txt" % i],
    cmd = "sleep 0.4; (echo leaf %d; cat $(SRCS)) > $@" % i,
) for i in range(${leaves})]

genrule(
    name = "root",
    srcs = ["leaf%d.txt" % i for i in range(${leaves})],
    outs = ["root.txt"],
    cmd = "cat $(SRCS) > $@",
)
`;

/** A workspace for `failureOfBuild`; each change of `restarts/round.txt` makes all its actions new. */
export function restartsWorkspace() {
  return bazelWorkspace({ "restarts/BUILD": targets, "restarts/round.txt": "" });
}

/**
 * Builds with the default retries, and calls `disturb` after a third of the actions, if the build gets there. Returns the
 * first error.
 */
export async function failureOfBuild(
  bazel: Bazel,
  url: string,
  disturb: () => Promise<void>,
): Promise<string | undefined> {
  const build = bazel.start(
    "build",
    "//restarts:root",
    "--config=farm",
    "--jobs=16",
    `--remote_executor=${url.replace("http:", "grpc:")}`,
    "--remote_instance_name=restarts",
    "--show_progress_rate_limit=0.05",
  );
  const isAThirdDone = (line: string) => Number(/^\[(\d+) \//.exec(line)?.[1] ?? 0) > leaves / 3;
  // A build that ends before counts as failed, with its own error.
  const isRunning = await build.note(isAThirdDone).then(
    () => true,
    () => false,
  );
  if (isRunning) await disturb();
  const { code, stderr } = await build.finished;
  return code === 0 ? undefined : (/ERROR.*$/m.exec(stderr)?.[0] ?? `exit code ${code}`);
}

/**
 * Kills the server under builds of Bazel with its default retries, and starts it again at once.
 *
 * Bazel retries a call five times, after 0.1, 0.2, 0.4, 0.8 and 1.6 s: 3.1 s in total.
 */
export async function bazelOverRestarts(): Promise<Row[]> {
  if (bazelNeed.missing !== undefined) throw new Error(bazelNeed.missing);
  const [farm, workspace] = await Promise.all([startFarm({ workers: 2 }), restartsWorkspace()]);
  let bazel: Bazel | undefined;
  const readyAfterMs: number[] = [];
  const failures: string[] = [];
  try {
    bazel = await startBazel(workspace.path);
    await bazel.run("build", "--nobuild", "//restarts:root");
    for (let round = 0; round < rounds; round++) {
      await workspace.write("restarts/round.txt", `${round}\n`);
      const failure = await failureOfBuild(bazel, farm.url, async () => {
        farm.server.signal("SIGKILL");
        const killedMs = performance.now();
        await farm.restartServer();
        readyAfterMs.push(performance.now() - killedMs);
      });
      if (failure !== undefined) failures.push(failure);
    }
  } finally {
    await bazel?.close();
    await farm.stop();
    await workspace.remove();
  }
  const sorted = readyAfterMs.toSorted((a, b) => a - b);
  return [
    {
      name: "clients 3: Bazel builds with default retries that outlive kill -9 and a restart of the server",
      figure: `${rounds - failures.length} of ${rounds}`,
      unit: "builds",
      goal: "all",
      holds: failures.length === 0,
      how: [`${leaves} actions of 0.4 s each, killed after a third`, ...failures].join("; "),
    },
    {
      name: "clients 3: from kill -9 to an answer, the slowest of ten",
      figure: Math.round(sorted.at(-1) ?? 0),
      unit: "ms",
      goal: "≤ 5,000",
      holds: (sorted.at(-1) ?? Infinity) <= 5_000,
      how: `median ${Math.round(sorted[rounds / 2] ?? 0)} ms; the server process is started anew at once`,
    },
  ];
}
