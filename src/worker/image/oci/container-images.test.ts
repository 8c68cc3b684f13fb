import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Service } from "#core/service.ts";
import { buildImage, pushImage, tarOf } from "#images/image-builder.fixture.ts";
import { Outcome } from "#proto/grange/worker/v1/worker_pb.ts";
import {
  type DockerRegistry,
  registryNeed,
  startDockerRegistry,
} from "../../../../test/support/docker-registry.ts";
import { needs } from "../../../../test/support/needs/needs.ts";
import { findProgram } from "../../../../test/support/needs/program.ts";
import { readWorkerConfig } from "../../config.ts";
import { FakeFarm, type FakeJob } from "../../fake-farm.fixture.ts";
import { sandboxNeeds } from "../../sandbox-needs.fixture.ts";
import { startWorkerOn } from "../../start-worker.ts";

const busybox = findProgram("busybox");

/** A base with BusyBox, and a layer above it that changes it. */
function layersOfTests(): [base: Buffer, above: Buffer] {
  const program = readFileSync(busybox ?? "/dev/null");
  const base = tarOf([
    { path: "bin/busybox", content: program, mode: 0o4755 },
    ...["sh", "cat", "ls", "id", "touch", "stat", "rm"].map((name) => ({
      path: `bin/${name}`,
      type: "2",
      target: "busybox",
    })),
    { path: "etc/base", content: "base\n" },
    { path: "etc/removed", content: "base\n" },
    { path: "opaque/below", content: "base\n" },
    { path: "etc/passwd", content: "root:x:0:0:root:/root:/bin/sh\n" },
    { path: "dev/evil", type: "3" },
    { path: "tmp", type: "2", target: "/etc" },
  ]);
  const above = tarOf([
    { path: "etc/base", content: "above\n" },
    { path: "etc/.wh.removed" },
    { path: "opaque/.wh..wh..opq" },
    { path: "opaque/above", content: "above\n" },
    { path: "etc/hard", type: "1", target: "bin/busybox" },
  ]);
  return [base, above];
}

const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();

const sandboxes = await sandboxNeeds(["bubblewrap", "namespaces"]);

for (const { sandbox, need } of sandboxes) {
  describe(`images in sandbox ${sandbox}`, needs(registryNeed, need), () => {
    const farm = new FakeFarm();
    let registry: DockerRegistry;
    let dataDir: string;
    let worker: Service;
    let name: string;

    beforeAll(async () => {
      registry = await startDockerRegistry();
      dataDir = mkdtempSync(join(tmpdir(), "grange-images-"));
      const image = buildImage(layersOfTests(), {
        Env: ["PATH=/bin", "FROM_IMAGE=yes", "HOME=/nowhere"],
        User: "root",
        WorkingDir: "/etc",
      });
      await pushImage(registry.origin, "tests/base", "v1", image);
      name = `docker://${registry.host}/tests/base@${image.digest}`;
      const config = readWorkerConfig({
        server: "http://127.0.0.1:1",
        name: "w1",
        slots: 2,
        dataDir,
        sandbox,
        registries: registry.origin,
        privateHosts: ["127.0.0.1"],
      });
      worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
    });
    afterAll(async () => {
      await worker?.stop();
      await registry?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    const run = (job: FakeJob, image = name) =>
      farm.run({ ...job, platform: { "container-image": image, ...job.platform } });
    const printed = async (job: FakeJob, image = name) => {
      const { result, message } = await run(job, image);
      return `${text(result?.stdoutRaw)}${text(result?.stderrRaw)}${message}`;
    };

    test("the worker offers to run images", async () => {
      await run({});
      expect(farm.registered?.platform["grange-images"]).toBe("oci");
      expect(farm.registered?.facilities["images"]).toContain(registry.host);
    });

    test("a command has the files of the layers, and none of the machine", async () => {
      const script = "cat etc/base; ls /etc/removed /usr /opaque; cat /etc/base; ls /dev/evil";

      const output = await printed({ script });

      expect(output).toContain("above\n");
      expect(output).toContain("/etc/removed: No such file");
      expect(output).toContain("/usr: No such file");
      expect(output).toContain("/dev/evil: No such file");
      expect(output).not.toContain("below");
    });

    test("a command has the image's variables below its own, and its own user and home", async () => {
      const output = await printed({
        script: 'echo "$FROM_IMAGE $OWN $HOME $PATH"; id -un; id -u; cat input',
        environment: { OWN: "own" },
        inputs: [{ path: "input", text: "from the farm\n" }],
      });

      expect(output).toBe("yes own /grange/home /bin\ngrange\n1000\nfrom the farm\n");
    });

    test("a job writes in its tree and in temporary directories, but not in the image", async () => {
      const { result, outcome } = await run({
        script:
          'echo made >out; touch /tmp/a "$HOME/b"; touch /etc/base 2>/dev/null && echo wrong; touch /new 2>/dev/null && echo wrong; ' +
          "rm -f /bin/busybox 2>/dev/null && echo wrong; stat -c %a /bin/busybox",
        command: { outputPaths: ["out"] },
      });

      expect(outcome).toBe(Outcome.SUCCEEDED);
      // Without the setuid bit.
      expect(text(result?.stdoutRaw)).toBe("755\n");
      expect(result?.outputFiles.map(({ path }) => path)).toEqual(["out"]);
    });

    test("exit codes and signals are those of the command", async () => {
      expect((await run({ script: "exit 7" })).result?.exitCode).toBe(7);
      expect((await run({ script: "kill -9 $$" })).result?.exitCode).toBe(137);
    });

    test("a tag is resolved, and layers of another image are shared", async () => {
      const [base] = layersOfTests();
      const other = buildImage([base, tarOf([{ path: "etc/base", content: "other\n" }])]);
      await pushImage(registry.origin, "tests/other", "latest", other);

      const output = await printed(
        { script: "cat /etc/base" },
        `docker://${registry.host}/tests/other`,
      );

      expect(output).toBe("other\n");
      const layers = readdirSync(join(imagesOf(dataDir), "layers"));
      expect(layers).toHaveLength(3);
    });

    test("an image that does not exist, or is not allowed, fails the action with the reason", async () => {
      const absent = await run({}, `docker://${registry.host}/tests/absent`);
      const foreign = await run({}, "docker://example.com/a");
      const wrong = await run({}, "docker://../etc");

      expect([absent, foreign, wrong].map(({ outcome }) => outcome)).toEqual(
        Array.from({ length: 3 }, () => Outcome.FAILED),
      );
      expect(absent.message).toContain("there is no image");
      expect(foreign.message).toContain("GRANGE_WORKER_REGISTRIES");
      expect(wrong.message).toContain("is not the name of an image");
    });

    test("nothing is left in the directory for unfinished work", () => {
      expect(readdirSync(join(imagesOf(dataDir), "temp"))).toEqual([]);
    });
  });
}

function imagesOf(dataDir: string): string {
  const own = readdirSync(dataDir).find((entry) => entry.startsWith("of-user-"));
  return join(dataDir, own ?? "", "images");
}
