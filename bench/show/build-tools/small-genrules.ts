import { type Bazel, bazelNeed, startBazel } from "../../../test/build-tools/bazel.ts";
import { bazelWorkspace } from "../../../test/build-tools/bazel-workspace.ts";
import { startFarm } from "../../../test/support/farm.ts";
import { quantile } from "../quantile.ts";
import { requireNeeds } from "../require-needs.ts";
import { atMost, forInformation, type Measurement, type Row } from "../row.ts";

const rules = 500;
const rounds = 3;

/** Actions so small that the time is that of what surrounds them. */
const targets = `
[genrule(
    name = "small%d" % i,
    srcs = ["round.txt"],
    outs = ["small%d.txt" % i],
    cmd = "(echo %d; cat $(SRCS)) > $@" % i,
) for i in range(${rules})]
filegroup(name = "all", srcs = ["small%d" % i for i in range(${rules})])
`;

/** Small actions on a farm, beside Bazel's own sandbox on the same machine. */
export const smallGenrules: Measurement = {
  title: `${rules} small genrules, two workers with one slot each`,
  long: false,
  async measure() {
    requireNeeds([bazelNeed]);
    const [farm, workspace] = await Promise.all([
      startFarm({ workers: 0 }),
      bazelWorkspace({ "small/BUILD": targets, "small/round.txt": "" }),
    ]);
    let bazel: Bazel | undefined;
    try {
      for (const name of ["one", "two"])
        farm.startWorker({ name, env: { GRANGE_WORKER_SLOTS: "1" } });
      bazel = await startBazel(workspace.path);
      return await measureWith(bazel, farm.url, (text) => workspace.write("small/round.txt", text));
    } finally {
      await bazel?.close();
      await farm.stop();
      await workspace.remove();
    }
  },
};

async function measureWith(
  bazel: Bazel,
  url: string,
  change: (text: string) => Promise<unknown>,
): Promise<Row[]> {
  const times: Record<"local" | "farm", number[]> = { local: [], farm: [] };
  const options = {
    local: ["--jobs=2", "--spawn_strategy=linux-sandbox", "--strategy=Genrule=linux-sandbox"],
    farm: ["--config=farm", "--jobs=16", `--remote_executor=${url.replace("http:", "grpc:")}`],
  };
  // The first round warms up everything, and does not count.
  for (let round = 0; round <= rounds; round++) {
    for (const kind of ["local", "farm"] as const) {
      await change(`${round} ${kind}\n`);
      const { code, ms, text } = await bazel.run("build", "//small:all", ...options[kind]);
      if (code !== 0) throw new Error(`a build failed: ${text.slice(-2_000)}`);
      if (round > 0) times[kind].push(ms);
    }
  }
  const [local, farm] = [quantile(times.local, 0.5), quantile(times.farm, 0.5)];
  const how = `medians of ${rounds} builds each, by turns, everything on one machine; local with --jobs=2`;
  return [
    atMost(`${rules} small genrules: farm against linux-sandbox`, farm / local, 2, "×", how),
    forInformation(`${rules} small genrules: farm`, farm / 1_000, "s", how),
    forInformation(`${rules} small genrules: linux-sandbox`, local / 1_000, "s", how),
  ];
}
