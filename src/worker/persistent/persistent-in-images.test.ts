import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
} from "../../../test/support/docker-registry.ts";
import { type Need, needs, skipWithout } from "../../../test/support/needs/needs.ts";
import { findProgram } from "../../../test/support/needs/program.ts";
import { readWorkerConfig } from "../config.ts";
import { FakeFarm } from "../fake-farm.fixture.ts";
import { sandboxNeeds } from "../sandbox-needs.fixture.ts";
import { startWorkerOn } from "../start-worker.ts";
import { needsLaterMounts, outputOf, requestOf } from "./persistent-workers.fixture.ts";

const busybox = findProgram("busybox");

/** A persistent worker with JSON that is a script of BusyBox: it copies `/etc/release` of its image and the input. */
const tool = `
count=0
while read -r request; do
  count=$((count + 1))
  echo "$OF_IMAGE $(cat /etc/release) $(cat in/text) $count" >out/result
  echo '{"exitCode":0,"output":""}'
done
`;

/** An image with BusyBox, the text in /etc/release, and the same in a variable. */
function imageWith(release: string) {
  const program = readFileSync(busybox ?? "/dev/null");
  const layer = tarOf([
    { path: "bin/busybox", content: program, mode: 0o755 },
    ...["sh", "cat"].map((name) => ({ path: `bin/${name}`, type: "2", target: "busybox" })),
    { path: "etc/release", content: release },
  ]);
  return buildImage([layer], { Env: ["PATH=/bin", `OF_IMAGE=${release}`] });
}

// No other sandbox sees input trees that are mounted later.
for (const { sandbox, need } of await sandboxNeeds(["bubblewrap"])) {
  describe(`persistent workers in images, sandbox ${sandbox}`, needs(registryNeed, need), () => {
    const farm = new FakeFarm();
    const images: string[] = [];
    let registry: DockerRegistry;
    let dataDir: string;
    let worker: Service;
    let laterMounts: Need;

    beforeAll(async () => {
      registry = await startDockerRegistry();
      dataDir = mkdtempSync(join(tmpdir(), "grange-persistent-images-"));
      for (const release of ["one", "two"]) {
        const image = imageWith(release);
        await pushImage(registry.origin, "tests/tools", release, image);
        images.push(`docker://${registry.host}/tests/tools@${image.digest}`);
      }
      const config = readWorkerConfig({
        server: "http://127.0.0.1:1",
        name: "w",
        slots: 1,
        dataDir,
        sandbox,
        registries: registry.origin,
        privateHosts: ["127.0.0.1"],
        persistentWorkers: 2,
      });
      worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
      laterMounts = await needsLaterMounts({ ...config, dataDir: join(dataDir, "probe") });
    });
    afterAll(async () => {
      await worker?.stop();
      await registry?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });

    async function run(image = "", text: string) {
      const ended = await farm.run({
        command: {
          arguments: ["/bin/sh", "tool/run.sh", "@out/flags"],
          outputPaths: ["out/result"],
        },
        inputs: [
          { path: "tool/run.sh", text: tool, isTool: true },
          { path: "out/flags", text: "an argument\n" },
          { path: "in/text", text },
        ],
        platform: {
          "container-image": image,
          persistentWorkerKey: "key",
          persistentWorkerProtocol: "json",
        },
      });
      const { message, outcome } = ended;
      return { outcome, message, output: await outputOf(farm, ended), request: requestOf(ended) };
    }

    test("a process serves the actions of its image, and sees nothing of another one", async (context) => {
      skipWithout(context, laterMounts);

      const ended = [
        await run(images[0], "a"),
        await run(images[1], "b"),
        await run(images[0], "c"),
        await run(images[1], "d"),
      ];

      const succeeded = { outcome: Outcome.SUCCEEDED, message: "" };
      expect(ended).toEqual([
        { ...succeeded, output: "one one a 1\n", request: 1 },
        { ...succeeded, output: "two two b 1\n", request: 1 },
        { ...succeeded, output: "one one c 2\n", request: 2 },
        { ...succeeded, output: "two two d 2\n", request: 2 },
      ]);
    });
  });
}
