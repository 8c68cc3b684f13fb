import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bazelNeed } from "../../../test/build-tools/bazel.ts";
import { javaHome } from "../../../test/build-tools/bazel-toolchains.ts";
import { bazelWorkspace } from "../../../test/build-tools/bazel-workspace.ts";
import { atMost, exactly, type Row } from "../row.ts";
import type { Granary, GranaryLab } from "./granary-lab.ts";
import { kept } from "./inflict.ts";
import { commitAll, sh } from "./project.ts";
import { timed } from "./timed.ts";

const bazelRounds = 5;
const rules = 30;
const layer = 6;

/**
 * Each rule takes a tenth of a second without CPU time, and reads one of the layer below; the last also reads a stamp.
 */
function buildFile(): string {
  const rule = (n: number) => {
    const sources = [
      ...(n < layer ? [] : [`":r${n - layer}"`]),
      ...(n === rules - 1 ? ['"stamp.txt"'] : []),
    ];
    return `genrule(name = "r${n}", srcs = [${sources.join(", ")}], outs = ["r${n}.txt"], cmd = "sleep 0.1; (seq ${n} 2000; cat $(SRCS) /dev/null) > $@")\n`;
  };
  const all = Array.from({ length: rules }, (_, n) => n);
  return `${all.map(rule).join("")}filegroup(name = "rules", srcs = [${all.map((n) => `":r${n}"`).join(", ")}])\n`;
}

interface BazelProject {
  build(granary: Granary, name: string, ...flags: string[]): ReturnType<Granary["exec"]>;
  stamp(text: string): Promise<void>;
  clean(): Promise<unknown>;
  product(): string;
  close(): Promise<void>;
}

async function bazelProject(lab: GranaryLab): Promise<BazelProject> {
  const root = join(lab.work, "bazel-faults");
  await mkdir(root, { recursive: true });
  const workspace = await bazelWorkspace({ "many/BUILD": buildFile(), "many/stamp.txt": "0\n" });
  const { path: cwd } = workspace;
  sh(cwd, "git init -q -b main && echo 'bazel-*' > .gitignore");
  commitAll(cwd, "commit 0");
  const env = { HOME: root, JAVA_HOME: await javaHome() };
  const startup = ["bazel", "--nohome_rc", `--output_user_root=${root}`, "--max_idle_secs=600"];
  const alone = (...words: string[]) => timed([...startup, ...words], { cwd, env });
  return {
    build(granary, name, ...flags) {
      const how = ["--spawn_strategy=local", "--jobs=2", ...flags];
      const command = [...startup, "build", ...how, "//many:rules"];
      return granary.exec(command, { cwd, env, more: ["--project", name] });
    },
    stamp: (text) => writeFile(join(cwd, "many", "stamp.txt"), text),
    clean: () => alone("clean"),
    product: () => sh(cwd, "cat bazel-bin/many/r*.txt | sha256sum"),
    async close() {
      await alone("shutdown");
      sh(lab.work, `chmod -R u+w ${root}`);
      await rm(root, { recursive: true, force: true });
      await workspace.remove();
    },
  };
}

/** Bazel tolerates failures of a cache less than other tools. */
export async function bazelFaults(lab: GranaryLab): Promise<Row[]> {
  const name = "Bazel: daemon killed in mid-build: builds green, right bytes";
  const whyNot = bazelNeed.missing;
  if (whyNot !== undefined) {
    return [{ name, figure: null, unit: "", goal: "measured", holds: false, how: whyNot }];
  }
  const project = await bazelProject(lab);
  try {
    return [...(await killInBuild(lab, project, name)), ...(await loseBlobs(lab, project))];
  } finally {
    await project.close();
  }
}

async function killInBuild(lab: GranaryLab, project: BazelProject, name: string): Promise<Row[]> {
  // The first starts Bazel's server; the second is the reference.
  let right = "";
  let undisturbedMs = 0;
  for (const round of ["first", "second"]) {
    await project.clean();
    const granary = await lab.startGranary();
    const { wallMs } = await project.build(granary, `bazel-${round}`);
    undisturbedMs = wallMs;
    right = project.product();
    await granary.stop();
  }
  let good = 0;
  let longest = 0;
  const why: string[] = [];
  for (let round = 0; round < bazelRounds; round++) {
    await project.clean();
    const granary = await lab.startGranary();
    const running = project.build(granary, `bazel-kill-${round}`);
    let isOver = false;
    void running.finally(() => {
      isOver = true;
    });
    while (!isOver && (await kept(granary)) < (rules * round) / bazelRounds + 1) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    granary.program.signal("SIGKILL");
    const run = await running;
    longest = Math.max(longest, run.wallMs);
    if (run.code === 0 && project.product() === right) good++;
    else why.push(run.text.slice(-500));
  }
  const how = `after 1, 7, 13, 19 and 25 of ${rules} actions`;
  return [
    exactly(name, good, bazelRounds, `of ${bazelRounds}`, [how, ...why].join("; ")),
    atMost(
      "Bazel: daemon killed in mid-build: the longest build to one undisturbed",
      longest / undisturbedMs,
      1.5,
      "×",
      `${(longest / 1_000).toFixed(1)} and ${(undisturbedMs / 1_000).toFixed(1)} s`,
    ),
  ];
}

/** The place and time of the loss: a build without the bytes is followed by one that needs some of them. */
const losses = [
  { name: "every third by the farm before the build", at: "farm", first: true, oneOf: 3 },
  { name: "all by the farm between two builds", at: "farm", first: false, oneOf: 1 },
  { name: "all by the machine between two builds", at: "machine", first: false, oneOf: 1 },
] as const;

/**
 * A Bazel that fetches no outputs (`--remote_download_minimal`) relies on the stated outputs: if they are gone when the
 * next build needs them, it fails, and continues to fail until everything is cleaned.
 */
async function loseBlobs(lab: GranaryLab, project: BazelProject): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [n, loss] of losses.entries()) {
    let good = 0;
    const why: string[] = [];
    for (let round = 0; round < 2; round++) {
      const name = `bazel-lost-${n}-${round}`;
      await project.stamp(`${name}\n`);
      await project.clean();
      const maker = await lab.startGranary();
      await project.build(maker, name);
      await maker.drained();
      await maker.stop();
      const granary = await lab.startGranary();
      const lose = () =>
        loseBlobFiles(loss.at === "farm" ? lab.farm.dataDir : granary.data, loss.oneOf, round);
      await project.clean();
      if (loss.first) lose();
      const first = await project.build(granary, name, "--remote_download_minimal");
      if (!loss.first) lose();
      await project.stamp(`${name} again\n`);
      const second = await project.build(granary, name, "--remote_download_minimal");
      await granary.stop();
      if (first.code === 0 && second.code === 0) good++;
      else why.push(`${first.code}, ${second.code}: ${second.text.slice(-600)}`);
    }
    const how = "blobs' files are removed; --remote_download_minimal, two builds";
    rows.push(
      exactly(
        `Bazel without the bytes, blobs lost: ${loss.name}: builds green`,
        good,
        2,
        "of 2",
        [how, ...why].join("; "),
      ),
    );
  }
  return rows;
}

function loseBlobFiles(directory: string, oneOf: number, round: number): void {
  const chosen = `awk 'NR % ${oneOf} == ${round % oneOf}'`;
  sh(directory, `find blobs -type f | sort | ${chosen} | xargs -r rm -f`);
  // A granary's small blobs are stored together in files that it has open.
  sh(
    directory,
    "for f in packs/*.pack; do [ ! -f $f ] || truncate -s $(($(stat -c %s $f) / 2)) $f; done",
  );
}
