import { cp } from "node:fs/promises";
import { join } from "node:path";
import { exactly, forInformation, type Measurement, type Row } from "../row.ts";
import { type Granary, type GranaryLab, startGranaryLab } from "./granary-lab.ts";
import { type BuiltProject, ccacheProject, sh } from "./project.ts";

const files = 30;
const workspaces = 4;

/** Concurrent builds: their data is not mixed, and equal data is stored once. */
export const sharing: Measurement = {
  title: "granary: environments, commits and workspaces side by side",
  long: false,
  async measure() {
    const lab = await startGranaryLab({ roundTripMs: 20, bytesPerSecond: 100e6 / 8 });
    try {
      return [
        ...(await twoEnvironments(lab)),
        ...(await twoCommits(lab)),
        ...(await fourWorkspaces(lab)),
      ];
    } finally {
      await lab.stop();
    }
  },
};

async function run(
  granary: Granary,
  { command, env, path }: BuiltProject,
  project: string,
  also: Readonly<Record<string, string>> = {},
  cwd = path,
) {
  const build = () => {
    sh(cwd, "rm -rf build");
    const more = ["--project", project];
    return granary.exec(command, { cwd, env: { ...env, ...also }, more });
  };
  let done = await build();
  // A busy machine sometimes runs a build without a granary, from which nothing is learned.
  for (let n = 0; n < 5 && done.text.includes("running without a granary"); n++) {
    done = await build();
  }
  if (done.code !== 0) throw new Error(done.text);
  return sh(cwd, "cat build/*.o build/app | sha256sum");
}

/** One commit with two values of CXXFLAGS, which belong to the environment: each has its own index. */
async function twoEnvironments(lab: GranaryLab): Promise<Row[]> {
  const project = await ccacheProject(join(lab.work), files);
  const name = "environments";
  const settings = [{ CXXFLAGS: "-O1" }, { CXXFLAGS: "-O1 -g" }];
  const products: string[] = [];
  for (const setting of settings) {
    const granary = await lab.startGranary();
    products.push(await run(granary, project, name, setting));
    await granary.drained();
    await granary.stop();
  }
  let mixed = 0;
  let ahead = 0;
  const brought: string[] = [];
  for (const [n, setting] of settings.entries()) {
    const granary = await lab.startGranary();
    if ((await run(granary, project, name, setting)) !== products[n]) mixed++;
    await granary.drained();
    await granary.stop();
    const [report] = await lab.reports(name);
    if (report === undefined) throw new Error("no report of a build in two environments");
    const { counts, bytes } = report;
    if (bytes.wasted === 0 && counts.prefetched > 0) ahead++;
    brought.push(
      `${counts.prefetched} results ahead and ${counts.fetched} waited for, ${counts.local} here, ${counts.missed} made, ${bytes.wasted} of ${bytes.transferred} bytes wasted`,
    );
  }
  const { indexes } = (await (
    await fetch(`${lab.farm.url}/api/v1/granary/indexes?project=${name}`)
  ).json()) as { indexes: { environment: string }[] };
  const environments = new Set(indexes.map(({ environment }) => environment)).size;
  const how = "one commit, CXXFLAGS=-O1 and -O1 -g, each built again on a machine that has nothing";
  return [
    exactly("two environments: indexes", environments, 2, "", how),
    exactly("two environments: products mixed up", mixed, 0, "", how),
    exactly(
      "two environments: builds that were fetched for ahead, and nothing of the other's",
      ahead,
      2,
      "",
      `${how}: ${brought.join("; ")}`,
    ),
  ];
}

/** Two commits built at once on one daemon, from a farm that knows both. */
async function twoCommits(lab: GranaryLab): Promise<Row[]> {
  const project = await ccacheProject(lab.work, files);
  const other = join(lab.work, "other-checkout");
  sh(lab.work, `rm -rf ${other}`);
  await project.commit(10);
  await cp(project.path, other, { recursive: true });
  await project.commit(11);
  const granary = await lab.startGranary();
  const paths = [project.path, other];
  const right: string[] = [];
  for (const path of paths) right.push(await run(granary, project, "commits", {}, path));
  await granary.drained();
  await granary.stop();
  const fresh = await lab.startGranary();
  const got = await Promise.all(paths.map((path) => run(fresh, project, "commits", {}, path)));
  await fresh.drained();
  await fresh.stop();
  const reports = (await lab.reports("commits")).slice(0, 2);
  const commits = new Set(reports.map(({ commit }) => commit)).size;
  const how =
    "two checkouts of one repository, a commit apart, built at once on a machine that has nothing";
  return [
    exactly(
      "two commits at once: right products",
      got.filter((each, n) => each === right[n]).length,
      2,
      "of 2",
      how,
    ),
    exactly("two commits at once: builds told apart", commits, 2, "", how),
    forInformation(
      "two commits at once: waited for",
      reports.reduce((sum, { counts }) => sum + counts.fetched, 0),
      "results",
      `${reports.reduce((sum, { counts }) => sum + counts.prefetched, 0)} fetched ahead`,
    ),
  ];
}

/** Four checkouts with one daemon at once: equal data is fetched and stored once. */
async function fourWorkspaces(lab: GranaryLab): Promise<Row[]> {
  const project = await ccacheProject(lab.work, files);
  const paths = await Promise.all(
    Array.from({ length: workspaces }, async (_, n) => {
      const path = join(lab.work, `workspace-${n}`);
      await cp(project.path, path, { recursive: true });
      return path;
    }),
  );
  const first = await lab.startGranary();
  const right = await run(first, project, "workspaces", {}, paths[0]);
  await first.drained();
  const alone = bytesOf(first);
  await first.stop();
  const before = lab.line.carried.toClient;
  const shared = await lab.startGranary();
  const got = await Promise.all(paths.map((path) => run(shared, project, "workspaces", {}, path)));
  await shared.drained();
  const carried = lab.line.carried.toClient - before;
  const together = bytesOf(shared);
  await shared.stop();
  return [
    exactly(
      "four workspaces at once: right products",
      got.filter((each) => each === right).length,
      workspaces,
      `of ${workspaces}`,
      "SHA-256 of all outputs",
    ),
    forInformation(
      "four workspaces: their store to that of one",
      together / alone,
      "×",
      `${together} and ${alone} bytes of blobs`,
    ),
    forInformation(
      "four workspaces: fetched",
      carried / 1_024,
      "KiB",
      "over the line, for all four",
    ),
  ];
}

function bytesOf({ data }: Granary): number {
  return Number(sh(data, "du -sbc blobs packs | tail -1 | cut -f1"));
}
