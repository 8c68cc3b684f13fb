import { execFile } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
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
import { findProgram, programs } from "../../../../test/support/needs/program.ts";
import { readWorkerConfig } from "../../config.ts";
import { FakeFarm, type FakeJob } from "../../fake-farm.fixture.ts";
import { sandboxNeeds } from "../../sandbox-needs.fixture.ts";
import { startWorkerOn } from "../../start-worker.ts";

const busybox = findProgram("busybox");
const imageTools = programs("tools that build images", {
  programs: ["umoci", "skopeo"],
  packages: ["umoci", "skopeo"],
});

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

    test(
      "images of umoci and skopeo run: Docker's schema 2 in a list with an attestation, and layers packed by zstd",
      needs(imageTools),
      async () => {
        const made = mkdtempSync(join(tmpdir(), "grange-image-tools-"));
        try {
          await makeImages(made, registry);
          const script = "cat /opaque/* /etc/more; ls /etc/gone; stat -c %a /bin/busybox";

          for (const tag of ["list", "zstd"]) {
            const output = await printed(
              { script },
              `docker://${registry.host}/tests/tools:${tag}`,
            );
            expect(output).toContain("above\nmore\n");
            expect(output).toContain("/etc/gone: No such file");
            expect(output).toContain("755\n");
          }
        } finally {
          rmSync(made, { recursive: true, force: true });
        }
      },
    );

    test("an image without a shell says so", async () => {
      const image = buildImage([tarOf([{ path: "program", content: "x" }])]);
      await pushImage(registry.origin, "tests/no-shell", "latest", image);

      const output = await printed({}, `docker://${registry.host}/tests/no-shell`);

      expect(output).toContain("/bin/sh");
      expect(output).toContain("No such file");
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

/** Pushes an image of umoci, with layers and without history, as `list` and as `zstd`. */
async function makeImages(directory: string, { host, origin }: DockerRegistry): Promise<void> {
  const root = join(directory, "root");
  for (const name of ["bin", "etc", "opaque"]) mkdirSync(join(root, name), { recursive: true });
  copyFileSync(busybox ?? "/dev/null", join(root, "bin/busybox"));
  chmodSync(join(root, "bin/busybox"), 0o4755);
  for (const name of ["sh", "cat", "ls", "stat"]) symlinkSync("busybox", join(root, "bin", name));
  for (const name of ["etc/gone", "opaque/below"]) writeFileSync(join(root, name), "below\n");
  mkdirSync(join(directory, "above"));
  writeFileSync(join(directory, "above/file"), "above\n");
  writeFileSync(join(directory, "more"), "more\n");
  const insert = ["umoci", "insert", "--rootless", "--no-history", "--image", "layout:v1"];
  const copy = ["skopeo", "--insecure-policy", "copy", "--quiet", "--dest-tls-verify=false"];
  for (const [program = "", ...args] of [
    ["umoci", "init", "--layout", "layout"],
    ["umoci", "new", "--image", "layout:v1"],
    [...insert, "root", "/"],
    [...insert, "--opaque", "above", "/opaque"],
    [...insert, "--whiteout", "/etc/gone"],
    [...insert, "more", "/etc/more"],
    ["umoci", "config", "--no-history", "--image", "layout:v1", "--config.user", "nobody"],
    [...copy, "--format", "v2s2", "oci:layout:v1", `docker://${host}/tests/tools:v2s2`],
    [
      ...copy,
      "--dest-compress-format",
      "zstd",
      "--format",
      "oci",
      "oci:layout:v1",
      `docker://${host}/tests/tools:zstd`,
    ],
  ])
    await promisify(execFile)(program, args, { cwd: directory });

  const type = "application/vnd.docker.distribution.manifest";
  const at = `${origin}/v2/tests/tools/manifests`;
  const answer = await fetch(`${at}/v2s2`, { headers: { accept: `${type}.v2+json` } });
  const digest = answer.headers.get("docker-content-digest");
  const entry = {
    mediaType: `${type}.v2+json`,
    digest,
    size: (await answer.arrayBuffer()).byteLength,
  };
  const architecture = process.arch === "x64" ? "amd64" : process.arch;
  const list = {
    schemaVersion: 2,
    mediaType: `${type}.list.v2+json`,
    manifests: [
      { ...entry, platform: { os: "unknown", architecture: "unknown" } },
      { ...entry, platform: { os: "linux", architecture } },
    ],
  };
  const put = await fetch(`${at}/list`, {
    method: "PUT",
    headers: { "content-type": list.mediaType },
    body: JSON.stringify(list),
  });
  if (!put.ok) throw new Error(`HTTP ${put.status} ${await put.text()}`);
}

function imagesOf(dataDir: string): string {
  const own = readdirSync(dataDir).find((entry) => entry.startsWith("of-user-"));
  return join(dataDir, own ?? "", "images");
}
