import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pushImage } from "#images/image-builder.fixture.ts";
import { browserNeed } from "../../../test/support/chromium.ts";
import { debianImage } from "../../../test/support/debian-image.ts";
import { registryNeed, startDockerRegistry } from "../../../test/support/docker-registry.ts";
import { grange } from "../../../test/support/farm.ts";
import { postgresImage } from "../../../test/support/postgres-image.ts";
import { runProgram, startProgram } from "../../../test/support/process.ts";
import { requireNeeds } from "../require-needs.ts";
import { exactly, type Measurement } from "../row.ts";

const example = join(import.meta.dirname, "../../../docs/examples/guestbook");

/** What every Debian system has, as far as the jobs use it. */
const base = ["bash", "coreutils", "dash", "findutils", "grep", "sed"];

/**
 * The example of docs/containers.md, by its steps: on a machine without a farm, from the first commit to green. The images
 * are made of the packages that its Dockerfiles name.
 */
export const guestbook: Measurement = {
  title: "a project with CMake, PostgreSQL and a browser test, from its first commit to green",
  long: false,
  async measure() {
    requireNeeds([registryNeed, browserNeed]);
    const registry = await startDockerRegistry();
    const scratch = await mkdtemp(join(tmpdir(), "grange-guestbook-"));
    try {
      const build = (name: string) => imageOf(join(example, "images", name, "Dockerfile"));
      await pushImage(registry.origin, "example/cpp", "12", await build("cpp"));
      await pushImage(registry.origin, "example/browser", "12", await build("browser"));
      await pushImage(registry.origin, "library/postgres", "17", postgresImage());

      const project = join(scratch, "guestbook");
      await cp(example, project, { recursive: true });
      await git(project, "init", "--quiet", "--initial-branch=main");
      await git(project, "add", ".");
      await git(project, "commit", "--quiet", "--message=First commit");
      const mirrors = ["docker.io", "ghcr.io"].map((host) => `${host}=${registry.origin}`).join();
      const began = performance.now();
      const up = startProgram(
        process.execPath,
        [grange, "up", "--once", "--port", "0", "--data", join(scratch, "data")],
        {
          cwd: project,
          env: {
            GRANGE_REGISTRIES: mirrors,
            GRANGE_WORKER_REGISTRIES: mirrors,
            GRANGE_PRIVATE_HOSTS: "127.0.0.1",
          },
        },
      );
      const { code, stdout, stderr } = await up.finished;
      const seconds = Math.round((performance.now() - began) / 1_000);
      const printed = `${stdout}${stderr}`.slice(-1_500);
      return [
        exactly(
          "project with CMake, PostgreSQL and a browser test: exit code of grange up --once",
          code ?? -1,
          0,
          "",
          code === 0
            ? `${seconds} s with an empty data directory, PostgreSQL of the farm and pulls of all images; docs/examples/guestbook`
            : printed,
        ),
      ];
    } finally {
      await rm(scratch, { recursive: true, force: true });
      await registry.stop();
    }
  },
};

/** Builds the image of a Dockerfile that only installs packages. */
async function imageOf(dockerfile: string) {
  const text = await readFile(dockerfile, "utf8");
  const packages = /install -y --no-install-recommends (.*)$/m.exec(text)?.[1]?.split(" ") ?? [];
  return debianImage([...base, ...packages]);
}

async function git(directory: string, ...args: string[]): Promise<void> {
  const who = ["-c", "user.name=Show", "-c", "user.email=show@example.org"];
  await runProgram("git", ["-C", directory, ...who, ...args]);
}
