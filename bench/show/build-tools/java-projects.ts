import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startFarm } from "../../../test/support/farm.ts";
import { gradle as gradleNeed } from "../../../test/support/needs/machine-needs.ts";
import { mavenInstallation, mavenNeed } from "../../../test/support/needs/maven-need.ts";
import type { Need } from "../../../test/support/needs/needs.ts";
import { medianWallMs, type Timed, timed, wallTimes } from "../granary/timed.ts";
import { requireNeeds } from "../require-needs.ts";
import { atLeast, exactly, forInformation, type Measurement, type Row } from "../row.ts";
import {
  copyJavaProject,
  fetchJavaProject,
  javaSourcesNeed,
  library,
  writeGradleFiles,
  writePom,
} from "./published-java.ts";

const rounds = 3;

const buildCacheExtension = fileURLToPath(
  new URL("../../../test/build-tools/caches/maven-workspace/.mvn", import.meta.url),
);

/** One build tool with its own cache over HTTP. */
interface JavaTool {
  readonly name: string;
  readonly need: Need;
  /** Builds and tests from sources alone; without a cache if none is given. */
  build(project: string, machine: string, cache: string | undefined): Promise<Timed>;
  /** How many steps of the build came from the cache; all of them: `steps`. */
  readonly fromCache: RegExp;
  readonly steps: number;
}

const maven: JavaTool = {
  name: "Maven 3.9 with its build cache extension",
  need: mavenNeed,
  async build(project, machine, cache) {
    await writePom(project);
    await cp(buildCacheExtension, join(project, ".mvn"), { recursive: true });
    const { program = "mvn", repository = "" } = mavenInstallation ?? {};
    const properties = [
      `maven.repo.local=${repository}`,
      `maven.build.cache.location=${join(machine, "local-cache")}`,
      ...(cache === undefined
        ? ["maven.build.cache.enabled=false"]
        : [
            "maven.build.cache.remote.enabled=true",
            "maven.build.cache.remote.save.enabled=true",
            `maven.build.cache.remote.url=${cache}/maven`,
          ]),
    ];
    const args = ["-B", "-ntp", ...properties.map((property) => `-D${property}`), "package"];
    return await timed([program, ...args], { cwd: project, env: {} });
  },
  fromCache: /Skipping plugin execution \(cached\): (?:compiler|surefire|jar):/g,
  steps: 4,
};

const gradle: JavaTool = {
  name: "Gradle",
  need: gradleNeed,
  async build(project, machine, cache) {
    await writeGradleFiles(project, cache);
    const args = ["-g", join(machine, "home"), "--no-daemon", "--console=plain"];
    const cached = cache === undefined ? [] : ["--build-cache"];
    return await timed(["gradle", ...args, ...cached, "test", "jar"], { cwd: project, env: {} });
  },
  fromCache: / FROM-CACHE$/gm,
  steps: 3,
};

/** A public Java library, built and tested by two tools on a machine that has its sources alone. */
export const javaProjects: readonly Measurement[] = [maven, gradle].map((tool) => ({
  title: `${tool.name}: a public project on a second machine`,
  long: true,
  async measure() {
    requireNeeds([tool.need, javaSourcesNeed]);
    const directory = await mkdtemp(join(tmpdir(), "grange-java-"));
    const farm = await startFarm({ workers: 0 });
    try {
      return await rowsOf(tool, directory, `${farm.url}/cache/default`);
    } finally {
      await farm.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
}));

async function rowsOf(tool: JavaTool, directory: string, cache: string): Promise<Row[]> {
  const sources = join(directory, "sources");
  await mkdir(sources);
  await fetchJavaProject(sources);
  /** A new checkout on a machine with nothing, always at the same path, and what it built. */
  const machine = async (ofCache: string | undefined): Promise<Timed> => {
    const project = join(directory, "project");
    const home = join(directory, "machine");
    for (const made of [project, home]) await rm(made, { recursive: true, force: true });
    await mkdir(home);
    await copyJavaProject(sources, project);
    const run = await tool.build(project, home, ofCache);
    if (run.code !== 0)
      throw new Error(`${tool.name} ended with ${run.code}: ${run.text.slice(-4_000)}`);
    return run;
  };

  // The first builds also download plugins and fill the farm.
  await machine(undefined);
  await machine(cache);
  const without: Timed[] = [];
  const second: Timed[] = [];
  for (let round = 0; round < rounds; round++) {
    without.push(await machine(undefined));
    second.push(await machine(cache));
  }
  const [withoutMs, secondMs] = [medianWallMs(without), medianWallMs(second)];
  const how = `${library}: its published sources and tests, compiled, tested and packed; a farm on this machine; median of ${rounds}, by turns; without a cache ${wallTimes(without)}; second machine ${wallTimes(second)}`;
  const name = `${tool.name}: ${library}`;
  const cachedSteps = second.at(-1)?.text.match(tool.fromCache)?.length ?? 0;
  return [
    atLeast(
      `${name}: time saved on a second machine`,
      100 * (1 - secondMs / withoutMs),
      70,
      "%",
      how,
    ),
    forInformation(`${name}: second machine`, secondMs / 1_000, "s", how),
    exactly(`${name}: steps from the cache`, cachedSteps, tool.steps, "", how),
  ];
}
