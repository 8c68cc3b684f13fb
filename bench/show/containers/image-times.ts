import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { buildImage, pushImage, tarOf } from "#images/image-builder.fixture.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { FakeFarm } from "#worker/fake-farm.fixture.ts";
import { startWorkerOn } from "#worker/start-worker.ts";
import { registryNeed, startDockerRegistry } from "../../../test/support/docker-registry.ts";
import { findProgram } from "../../../test/support/needs/program.ts";
import { quantile } from "../quantile.ts";
import { requireNeeds } from "../require-needs.ts";
import { atMost, forInformation, type Measurement } from "../row.ts";

const files = 4_000;
const fileBytes = 16 * 1024;
const actions = 100;
const blocks = 4;

function baseLayer(): Buffer {
  const noise = randomBytes(files * fileBytes);
  return tarOf([
    {
      path: "bin/busybox",
      content: readFileSync(findProgram("busybox") ?? "/dev/null"),
      mode: 0o755,
    },
    { path: "bin/sh", type: "2", target: "busybox" },
    ...Array.from({ length: files }, (_, n) => ({
      path: `usr/share/d${n % 50}/f${n}`,
      content: noise.subarray(n * fileBytes, (n + 1) * fileBytes),
    })),
  ]);
}

/** What an image costs the first action, the next one, and a hundred of them. */
export const imageTimes: Measurement = {
  title: "actions in an image of 64 MB, and without one",
  long: false,
  async measure() {
    requireNeeds([registryNeed]);
    const registry = await startDockerRegistry();
    const dataDir = mkdtempSync(join(tmpdir(), "grange-image-times-"));
    const farm = new FakeFarm();
    const config = readWorkerConfig({
      server: "http://127.0.0.1:1",
      name: "w1",
      slots: 1,
      dataDir,
      registries: registry.origin,
      privateHosts: ["127.0.0.1"],
    });
    const worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
    try {
      const base = baseLayer();
      const image = buildImage([base], { Env: ["PATH=/bin"] });
      const above = buildImage([base, tarOf([{ path: "above", content: "above" }])]);
      await pushImage(registry.origin, "show/base", "v1", image);
      await pushImage(registry.origin, "show/above", "v1", above);
      const timeOf = async (reference?: string) => {
        const began = performance.now();
        const { result, message } = await farm.run({
          script: "exit 0",
          platform: reference === undefined ? {} : { "container-image": reference },
        });
        if (result?.exitCode !== 0) throw new Error(`an action failed: ${message}`);
        return performance.now() - began;
      };
      const name = `docker://${registry.host}/show/base@${image.digest}`;
      const first = await timeOf(name);
      const other = await timeOf(`docker://${registry.host}/show/above@${above.digest}`);
      await timeOf();
      const within: number[] = [];
      const without: number[] = [];
      // In blocks, because each action prepares the sandbox for the next one of its kind; several, because the load of the
      // machine changes.
      for (let block = 0; block < blocks; block++) {
        for (let n = 0; n < actions / blocks; n++) within.push(await timeOf(name));
        for (let n = 0; n < actions / blocks; n++) without.push(await timeOf());
      }
      const [withImage, plain] = [quantile(within, 0.5), quantile(without, 0.5)];
      const sum = (times: readonly number[]) => times.reduce((total, time) => total + time, 0);
      return [
        forInformation(
          "image of 64 MB: first action",
          first,
          "ms",
          `with pull and unpacking of ${files} files, from Debian's docker-registry on this machine`,
        ),
        atMost(
          "image of 64 MB: another image with the same base layer",
          other,
          1_000,
          "ms",
          "with the pull of its own layer and the hard links to all files",
        ),
        atMost(
          "image of 64 MB: next action, beyond one without an image",
          withImage - plain,
          30,
          "ms",
          `median of ${actions} each, in ${blocks} blocks in turn: ${withImage.toFixed(1)} ms and ${plain.toFixed(1)} ms`,
        ),
        forInformation(
          "100 actions in an image, by the time of 100 without",
          sum(within) / sum(without),
          "×",
          `${sum(within).toFixed(0)} ms and ${sum(without).toFixed(0)} ms; an action without an image starts in a sandbox that waits for it`,
        ),
      ];
    } finally {
      await worker.stop();
      await registry.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  },
};
