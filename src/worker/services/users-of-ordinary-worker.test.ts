import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { servicesText } from "#core/action-services.ts";
import { pushImage } from "#images/image-builder.fixture.ts";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";
import {
  type DockerRegistry,
  registryNeed,
  startDockerRegistry,
} from "../../../test/support/docker-registry.ts";
import { root } from "../../../test/support/needs/machine-needs.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { programs } from "../../../test/support/needs/program.ts";
import { bundledProgram, JobsRun, runJobsCommand } from "../run-jobs.fixture.ts";
import { imageOfServices } from "./services-image.fixture.ts";

const ordinary = 65_534;
const firstSubordinate = 300_000;

const uidmap = programs("user ids of an ordinary user", {
  programs: ["newuidmap", "setpriv"],
  packages: ["uidmap", "util-linux"],
});

/** Gives ids to the user in a mount namespace of its own, and becomes this user. */
const asUserWithIds = `
mount --bind "$1" /etc/subuid && mount --bind "$1" /etc/subgid && shift &&
exec setpriv --reuid=${ordinary} --regid=${ordinary} --clear-groups -- "$@"`;

describe("services of a worker that is no root", needs(registryNeed, root, uidmap), () => {
  const directory = mkdtempSync(join(tmpdir(), "grange-ordinary-services-"));
  const dataDir = join(directory, "data");
  const program = join(directory, "run-jobs.mjs");
  let registry: DockerRegistry;
  let image: string;

  beforeAll(async () => {
    registry = await startDockerRegistry();
    const built = imageOfServices();
    await pushImage(registry.origin, "tests/web", "v1", built);
    image = `${registry.host}/tests/web@${built.digest}`;
    chmodSync(directory, 0o755);
    mkdirSync(dataDir);
    chownSync(dataDir, ordinary, ordinary);
    writeFileSync(join(directory, "ids"), `${ordinary}:${firstSubordinate}:65536\n`);
    writeFileSync(program, await bundledProgram());
  });
  afterAll(async () => {
    await registry?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Starts a worker that runs one job; the service gives its volume to another user and becomes this user. */
  function start(job: string, marker = "0") {
    const script = `chown web:web /srv/www; chmod 700 /srv/www; exec su web -c 'id -u; mkdir -m 700 /srv/www/own; sleep ${marker}; exec httpd -f -p 8080 -h /srv/www'`;
    const service = {
      name: "web",
      image,
      environment: {},
      arguments: [script],
      readyTimeoutMs: 30_000,
      writable: [],
    };
    const command = runJobsCommand(program, {
      jobs: [
        {
          script: job,
          platform: {
            "container-image": `docker://${image}`,
            "grange-services": servicesText([service]),
          },
        },
      ],
      settings: { dataDir, registries: registry.origin, privateHosts: ["127.0.0.1"] },
    });
    const args = ["--mount", "--propagation", "private", "sh", "-c", asUserWithIds, "sh"];
    return spawnWithPipes("unshare", [...args, join(directory, "ids"), ...command]);
  }

  async function run(job: string): Promise<JobsRun> {
    const child = start(job);
    let printed = "";
    let complaints = "";
    child.stdout.on("data", (part: Buffer) => (printed += part.toString()));
    child.stderr.on("data", (part: Buffer) => (complaints += part.toString()));
    await once(child, "close");
    if (printed === "") throw new Error(complaints);
    return JobsRun.parse(JSON.parse(printed));
  }

  /** Returns the paths of files of other users among those of executions. */
  const filesOfOthers = () => {
    const runs = join(dataDir, "run");
    const uidOf = (path: string) => lstatSync(join(runs, path), { throwIfNoEntry: false })?.uid;
    return readdirSync(runs, { recursive: true, encoding: "utf8" }).filter(
      (path) => (uidOf(path) ?? ordinary) !== ordinary,
    );
  };

  test("root of a service becomes another user, whose files are gone after the job", async () => {
    const { ended, facilities } = await run("wget -qO- http://web:8080/hello");

    expect(facilities["images"]).toContain("services run as the users of their images");
    expect(ended[0]).toMatchObject({ stdout: "hello\n", outputs: ["900\n"] });
    expect(filesOfOthers()).toEqual([]);
  });

  test("the next worker removes what users of a killed worker's services have left", async () => {
    const killed = start("true", "1000");
    killed.stdout.resume();
    killed.stderr.resume();
    const exited = once(killed, "exit");
    // A directory that the worker removes while it is being listed is an error, and not the one that is awaited.
    const hasOwn = () => {
      try {
        return filesOfOthers().some((path) => path.endsWith("/own"));
      } catch {
        return false;
      }
    };
    while (!hasOwn()) {
      if (killed.exitCode !== null)
        throw new Error("the worker ended before its service made a directory");
      await pause(20);
    }
    killed.kill("SIGKILL");
    await exited;
    expect(filesOfOthers()).not.toEqual([]);

    expect((await run("true")).ended[0]?.exitCode).toBe(0);

    expect(filesOfOthers()).toEqual([]);
  });
});
