import { buildImage, pushImage, tarOf } from "#images/image-builder.fixture.ts";
import { debianImage, programFiles } from "../../../test/support/debian-image.ts";
import { registryNeed, startDockerRegistry } from "../../../test/support/docker-registry.ts";
import { type Farm, startFarm } from "../../../test/support/farm.ts";
import { postgresImage } from "../../../test/support/postgres-image.ts";
import { sampleRepository } from "../../../test/support/sample-repository.ts";
import { requireNeeds } from "../require-needs.ts";
import { atMost, exactly, type Measurement } from "../row.ts";
import { busyboxFiles } from "./busybox-files.ts";
import { type CiDefinition, ciDefinitions } from "./ci-definitions.ts";

const packages = ["dash", "coreutils", "grep", "tar", "gzip", "gcc", "libc6-dev", "make", "cmake"];

/** Common kinds of continuous integration, converted to Grange, from commit to green. */
export const ciRuns: Measurement = {
  title: "ten definitions of continuous integration with images and services",
  long: false,
  async measure() {
    requireNeeds([registryNeed]);
    const registry = await startDockerRegistry();
    const env = {
      GRANGE_PRIVATE_HOSTS: "127.0.0.1",
      GRANGE_REGISTRIES: `docker.io=${registry.origin}`,
      GRANGE_WORKER_REGISTRIES: `docker.io=${registry.origin}`,
    };
    const farm = await startFarm({ workers: 0, env });
    try {
      await pushImages(registry.origin);
      farm.startWorker({ env });
      const failed: string[] = [];
      const ratios: number[] = [];
      for (const definition of ciDefinitions) {
        failed.push(...(await run(farm, definition)));
        ratios.push(linesOf(definition.converted) / linesOf(definition.original));
      }
      return [
        exactly(
          "definitions of continuous integration: not green",
          failed.length,
          0,
          "jobs",
          failed.length === 0
            ? `${ciDefinitions.length} kinds, written by us in the form of GitHub Actions and of Grange; images of Debian packages from a mirror`
            : failed.join("; "),
        ),
        atMost(
          "definitions of continuous integration: lines, by those of the original",
          Math.max(...ratios),
          1.2,
          "×",
          `the longest of ${ratios.length}; all together ${(sum(ciDefinitions.map(({ converted }) => linesOf(converted))) / sum(ciDefinitions.map(({ original }) => linesOf(original)))).toFixed(2)} ×`,
        ),
      ];
    } finally {
      await farm.stop();
      await registry.stop();
    }
  },
};

/** Returns the jobs that did not succeed, with the reasons. */
async function run(farm: Farm, { of, converted, files }: CiDefinition): Promise<string[]> {
  const repository = await sampleRepository({ ...files, ".grange/farm.yml": converted });
  try {
    const { id } = await farm.submit({ repository: repository.path });
    const { jobList } = await farm.untilOver(id);
    const bad = jobList.filter(({ state }) => state !== "succeeded");
    return await Promise.all(
      bad.map(async ({ name }) => {
        const [last] = (await farm.job(id, name)).runList;
        const log = await farm.log(id, name).catch(() => "");
        return `${of}, ${name}: ${last?.message ?? ""} ${log.slice(-300)}`;
      }),
    );
  } finally {
    await repository.remove();
  }
}

async function pushImages(origin: string): Promise<void> {
  const tools = debianImage([...packages, "python3"]);
  const node = debianImage(["dash", "coreutils", "grep"], programFiles(process.execPath));
  const web = buildImage([tarOf(busyboxFiles(["httpd"]))], {
    Env: ["PATH=/bin"],
    Entrypoint: ["httpd", "-f", "-p", "80", "-h", "/"],
    ExposedPorts: { "80/tcp": {} },
  });
  const images = [
    ["gcc", "12", tools],
    ["python", "3.11", tools],
    ["python", "3.12", tools],
    ["node", "22", node],
    ["nginx", "1", web],
    ["postgres", "17", postgresImage()],
  ] as const;
  for (const [name, tag, image] of images) await pushImage(origin, `library/${name}`, tag, image);
}

function linesOf(text: string): number {
  return text.split("\n").filter((line) => line.trim() !== "").length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
