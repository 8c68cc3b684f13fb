import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { smallToy } from "../../../test/granary/dune/toy-project.ts";
import { grange } from "../../../test/support/farm.ts";
import { exactly, type Measurement, type Row } from "../row.ts";
import { withoutDune } from "./dune.ts";
import { type DuneProject, duneToy, executedIn } from "./dune-project.ts";
import { type GranaryLab, startGranaryLab } from "./granary-lab.ts";
import { sh } from "./project.ts";
import { type Timed, timed } from "./timed.ts";

/** After the build's start: before dune, while it searches for its daemon, while it runs. */
const momentsMs = [0, 200, 400, 700, 1_200, 2_000];
/**
 * dune waits forever for a daemon, and ignores SIGTERM meanwhile: a hang ends after this time, and counts as a failure.
 */
const hangSeconds = 100;

/** dune 2 hangs or fails when its daemon does not answer correctly; with a granary in its place it does neither. */
export const duneFaults: Measurement = {
  title: "a real dune 2.9.3: granary silent, dead, of another version; dirty, without commits",
  long: false,
  async measure() {
    const whyNot = withoutDune();
    if (whyNot !== undefined) return [whyNot];
    const lab = await startGranaryLab({ roundTripMs: 20, bytesPerSecond: 100e6 / 8 });
    try {
      const project = await duneToy(lab.work, smallToy);
      return [
        await signalled(lab, project, "SIGSTOP", "silent"),
        await signalled(lab, project, "SIGKILL", "dead"),
        await ofAnotherVersion(lab, project),
        ...(await dirtyTree(lab, project)),
        ...(await withoutCommits(lab, project)),
      ];
    } finally {
      await lab.stop();
    }
  },
};

/** With `grange exec`, and a granary that may have stopped. */
async function buildBeside(data: string, project: DuneProject, name: string): Promise<Timed> {
  await project.clean();
  const hang = ["timeout", "-s", "KILL", `${hangSeconds}`];
  const exec = [grange, "exec", "--no-start", "--project", name, "--"];
  return timed([process.execPath, ...exec, ...hang, ...project.command], {
    cwd: project.path,
    env: { GRANGE_GRANARY_DATA: data, XDG_RUNTIME_DIR: data, ...project.beside?.(data) },
  });
}

async function signalled(
  lab: GranaryLab,
  project: DuneProject,
  signal: "SIGSTOP" | "SIGKILL",
  name: string,
): Promise<Row> {
  const runs: Timed[] = [];
  for (const [n, moment] of momentsMs.entries()) {
    const granary = await lab.startGranary();
    if (moment === 0) granary.program.signal(signal);
    const building = buildBeside(granary.data, project, `${name}-${n}`);
    await new Promise((resolve) => setTimeout(resolve, moment));
    if (moment > 0) granary.program.signal(signal);
    runs.push(await building);
    granary.program.signal("SIGKILL");
    await granary.program.finished;
  }
  return green(`dune, granary ${name}: builds green, none hangs`, runs);
}

function green(name: string, runs: readonly Timed[]): Row {
  const failed = runs.find(({ code }) => code !== 0);
  const longest = Math.max(...runs.map(({ wallMs }) => wallMs));
  const why = failed === undefined ? "" : `; ${failed.code}: ${failed.text.slice(-500)}`;
  return exactly(
    name,
    runs.filter(({ code }) => code === 0).length,
    runs.length,
    `of ${runs.length}`,
    `at ${momentsMs.join(", ")} ms; the longest took ${(longest / 1_000).toFixed(1)} s${why}`,
  );
}

/** A daemon that only supports a later version of the granary's protocol. */
async function ofAnotherVersion(lab: GranaryLab, project: DuneProject): Promise<Row> {
  const data = join(lab.work, "granary-of-another-version");
  await mkdir(data, { recursive: true });
  let asked = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", () => {
      asked += 1;
      socket.write(`${JSON.stringify({ type: "no-common-version", versions: [99] })}\n`);
    });
  });
  server.listen(join(data, "socket"));
  await once(server, "listening");
  try {
    const run = await buildBeside(data, project, "another-version");
    return exactly(
      "dune, granary of another version: build green",
      run.code === 0 ? "yes" : "no",
      "yes",
      "",
      `${(run.wallMs / 1_000).toFixed(1)} s; greeted ${asked} times; exec said: ${run.text.trim().split("\n")[0] ?? ""}`,
    );
  } finally {
    server.close();
    await rm(data, { recursive: true, force: true });
  }
}

async function dirtyTree(lab: GranaryLab, project: DuneProject): Promise<Row[]> {
  const name = "dune-dirty";
  const indexes = async () => {
    const response = await fetch(`${lab.farm.url}/api/v1/granary/indexes?project=${name}`);
    const page = (await response.json()) as { indexes: { builds: number }[] };
    return page.indexes.reduce((sum, { builds }) => sum + builds, 0);
  };
  const build = async (more: readonly string[]) => {
    const granary = await lab.startGranary();
    await project.clean();
    const run = await granary.exec(project.command, {
      cwd: project.path,
      env: { ...project.env, ...project.beside?.(granary.data) },
      more: ["--project", name, ...more],
    });
    await granary.drained();
    await granary.stop();
    return run;
  };
  await build([]);
  const all = executedIn(project.path);
  const before = await indexes();
  await writeFile(
    join(project.path, "bin/main.ml"),
    'let () = print_string "dirty"; print_int (Lib0.M0_0.work 1)\n',
  );
  const run = await build(["--wait-for-prefetch", "60000"]);
  const ran = executedIn(project.path);
  const how = `one module changed and not committed, on a machine that has nothing; dune ran ${ran} of ${all} commands`;
  const isServed = run.code === 0 && ran < all / 2;
  const published = (await indexes()) - before;
  await project.commit(1);
  return [
    exactly("dune, dirty tree: served", isServed ? "yes" : "no", "yes", "", how),
    exactly("dune, dirty tree: builds indexed under its commit", published, 0, "", how),
  ];
}

async function withoutCommits(lab: GranaryLab, project: DuneProject): Promise<Row[]> {
  const granary = await lab.startGranary();
  sh(project.path, "rm -rf .git && git init -q -b main");
  const alone = await timed(project.command, {
    cwd: project.path,
    env: { ...project.beside?.(granary.data), DUNE_CACHE: "enabled" },
  });
  const without = await buildBeside(granary.data, project, "no-commits");
  sh(project.path, "rm -rf .git");
  const noGit = await buildBeside(granary.data, project, "no-git");
  await granary.stop();
  return [
    exactly(
      "dune, repository without commits: ends with",
      without.code ?? -1,
      0,
      "",
      `with its cache on and no granary, dune 2.9.3 ends with ${alone.code}: it asks Git for a commit; it is told to leave its cache off`,
    ),
    exactly("dune, no Git at all: ends with", noGit.code ?? -1, 0, "", "served by its store"),
  ];
}
