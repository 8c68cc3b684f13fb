import { createHash, randomBytes } from "node:crypto";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pino } from "pino";
import { buildImage, pushImage, tarOf } from "#images/image-builder.fixture.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { FakeFarm } from "#worker/fake-farm.fixture.ts";
import { startWorkerOn } from "#worker/start-worker.ts";
import { registryNeed, startDockerRegistry } from "../../../test/support/docker-registry.ts";
import { quantile } from "../quantile.ts";
import { requireNeeds } from "../require-needs.ts";
import { atLeast, atMost, forInformation, type Measurement, type Row } from "../row.ts";
import { busyboxFiles } from "./busybox-files.ts";
import { type ByHand, containersByHand, mountsBelow, runToEnd } from "./by-hand.ts";

const layers = 4;
const filesOfLayer = 2_500;
const fileBytes = 20 * 1024;
const actions = 100;
const blocks = 4;
/** Of each program and block: programs that start a container are slow. */
const runsByHand = 5;

function layerOfNoise(layer: number): Buffer {
  const noise = randomBytes(filesOfLayer * fileBytes);
  return tarOf([
    ...(layer === 0 ? busyboxFiles([]) : []),
    ...Array.from({ length: filesOfLayer }, (_, n) => ({
      path: `usr/share/l${layer}/d${n % 50}/f${n}`,
      content: noise.subarray(n * fileBytes, (n + 1) * fileBytes),
    })),
  ]);
}

/** What an image of 200 MB costs the first action, the next one, and a hundred of them. */
export const imageTimes: Measurement = {
  title: "actions in an image of 200 MB, and without one",
  long: false,
  async measure() {
    requireNeeds([registryNeed]);
    const registry = await startDockerRegistry();
    const directory = mkdtempSync(join(tmpdir(), "grange-image-times-"));
    try {
      const base = Array.from({ length: layers }, (_, n) => layerOfNoise(n));
      const image = buildImage(base, { Env: ["PATH=/bin"] });
      const above = buildImage([...base, tarOf([{ path: "above", content: "above" }])]);
      await pushImage(registry.origin, "show/base", "v1", image);
      await pushImage(registry.origin, "show/above", "v1", above);
      const names = {
        base: `${registry.host}/show/base@${image.digest}`,
        above: `${registry.host}/show/above@${above.digest}`,
      };
      const pullMs = await pullByHand(registry.origin, [...image.blobs.keys()], directory);
      const byHand = await containersByHand(registry.host, "show/base", base, directory);
      const worker = join(directory, "worker");
      const times = await timesOfWorker(registry.origin, worker, names, byHand);
      return [...rowsOf(times, pullMs), ...byHand.map((each) => rowByHand(each, times))];
    } finally {
      await registry.stop();
      // Podman leaves the mounts of its store.
      for (const path of mountsBelow(directory)) await runToEnd(["umount", "-l", path]);
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

/** Returns how long it takes to download all blobs, check their digests and unpack them with tar, one after another, in ms. */
async function pullByHand(origin: string, digests: readonly string[], directory: string) {
  const began = performance.now();
  for (const [n, digest] of digests.entries()) {
    const file = join(directory, `blob-${n}`);
    const answer = await fetch(`${origin}/v2/show/base/blobs/${digest}`);
    if (!answer.ok || answer.body === null) throw new Error(`HTTP ${answer.status}`);
    const hash = createHash("sha256");
    await pipeline(
      Readable.fromWeb(answer.body),
      async function* (parts: AsyncIterable<Uint8Array>) {
        for await (const part of parts) {
          hash.update(part);
          yield part;
        }
      },
      createWriteStream(file),
    );
    if (`sha256:${hash.digest("hex")}` !== digest) throw new Error("a blob is corrupt");
    // The configuration is no archive.
    const isLayer = n > 0;
    if (isLayer) {
      const to = join(directory, `unpacked-${n}`);
      mkdirSync(to);
      await runToEnd(["tar", "-xzf", file, "-C", to]);
      await runToEnd(["sync", "-f", to]);
    }
  }
  return performance.now() - began;
}

interface Times {
  readonly first: number;
  readonly other: number;
  readonly within: readonly number[];
  readonly without: readonly number[];
  /** By the names of the programs. */
  readonly byHand: ReadonlyMap<string, readonly number[]>;
}

async function timesOfWorker(
  registries: string,
  dataDir: string,
  names: { readonly base: string; readonly above: string },
  programs: readonly ByHand[],
): Promise<Times> {
  const farm = new FakeFarm();
  const config = readWorkerConfig({
    server: "http://127.0.0.1:1",
    name: "w1",
    slots: 1,
    dataDir,
    registries,
    privateHosts: ["127.0.0.1"],
  });
  const worker = await startWorkerOn(farm, config, pino({ level: "silent" }));
  try {
    const timeOf = async (reference?: string) => {
      const began = performance.now();
      const { result, message } = await farm.run({
        script: "exit 0",
        platform: reference === undefined ? {} : { "container-image": `docker://${reference}` },
      });
      if (result?.exitCode !== 0) throw new Error(`an action failed: ${message}`);
      return performance.now() - began;
    };
    const first = await timeOf(names.base);
    const other = await timeOf(names.above);
    await timeOf();
    const within: number[] = [];
    const without: number[] = [];
    const byHand = new Map<string, number[]>(programs.map(({ name }) => [name, []]));
    // In blocks, because each action prepares the sandbox for the next one of its kind; several, because the load of the
    // machine changes.
    for (let block = 0; block < blocks; block++) {
      for (let n = 0; n < actions / blocks; n++) within.push(await timeOf(names.base));
      for (let n = 0; n < actions / blocks; n++) without.push(await timeOf());
      for (const program of programs) {
        if (program.kind === "missing") continue;
        for (let n = 0; n < runsByHand; n++) {
          const began = performance.now();
          await runToEnd(program.command(block * runsByHand + n));
          byHand.get(program.name)?.push(performance.now() - began);
        }
      }
    }
    return { first, other, within, without, byHand };
  } finally {
    await worker.stop();
  }
}

function rowsOf({ first, other, within, without }: Times, pullMs: number): Row[] {
  const [withImage, plain] = [quantile(within, 0.5), quantile(without, 0.5)];
  const sum = (times: readonly number[]) => times.reduce((total, time) => total + time, 0);
  return [
    forInformation(
      "image of 200 MB: first action",
      first,
      "ms",
      `with the pull and ${layers * filesOfLayer} files in ${layers} layers, from Debian's docker-registry on this machine`,
    ),
    atMost(
      "image of 200 MB: first action, by the time of a pull by hand",
      first / pullMs,
      1.5,
      "×",
      `by hand: the same blobs downloaded, checked, and unpacked by tar and sync, one after another: ${pullMs.toFixed(0)} ms`,
    ),
    atMost(
      "image of 200 MB: another image with the same base layers",
      other,
      1_000,
      "ms",
      "with the pull of its own layer and the hard links to all files",
    ),
    atMost(
      "image of 200 MB: next action, beyond one without an image",
      withImage - plain,
      30,
      "ms",
      `median of ${actions} each, in ${blocks} blocks in turn: ${withImage.toFixed(1)} ms and ${plain.toFixed(1)} ms`,
    ),
    atMost(
      "100 actions in an image, by the time of 100 without",
      sum(within) / sum(without),
      1.1,
      "×",
      `${sum(within).toFixed(0)} ms and ${sum(without).toFixed(0)} ms; an action without an image starts in a sandbox that waits for it`,
    ),
  ];
}

function rowByHand(program: ByHand, { within, byHand }: Times): Row {
  if (program.kind === "missing") {
    return {
      name: `an action in an image, beside ${program.name}`,
      figure: null,
      unit: "×",
      goal: "measured",
      holds: false,
      how: program.why,
    };
  }
  const times = byHand.get(program.name) ?? [];
  const [median, actionMs] = [quantile(times, 0.5), quantile(within, 0.5)];
  const how = `median of ${times.length} runs of the same command in the same image, in ${blocks} blocks between the actions: ${median.toFixed(1)} ms; an action: ${actionMs.toFixed(1)} ms`;
  const name = `${program.name} by hand, by the time of an action in the image`;
  return program.goal === undefined
    ? forInformation(name, median / actionMs, "×", how)
    : atLeast(name, median / actionMs, program.goal, "×", how);
}
