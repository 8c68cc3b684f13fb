import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  buildImage as buildBase,
  pushImage as pushBase,
  tarOf,
} from "#images/image-builder.fixture.ts";
import { parseImageReference } from "#images/image-reference.ts";
import { RegistryClient } from "#images/registry-client.ts";
import { parseRegistries } from "#images/registry-settings.ts";
import { ImageStore } from "#worker/image/oci/image-store.ts";
import { buildImage } from "../../scripts/image/build-image.ts";
import { pushImage } from "../../scripts/image/push-image.ts";
import {
  type DockerRegistry,
  registryNeed,
  startDockerRegistry,
} from "../support/docker-registry.ts";
import { needs } from "../support/needs/needs.ts";

describe("an image of Grange on a base from a registry", needs(registryNeed), () => {
  let registry: DockerRegistry;
  let scratch: string;
  let base: string;

  beforeAll(async () => {
    registry = await startDockerRegistry();
    scratch = await mkdtemp(join(tmpdir(), "grange-image-test-"));
    const toolchain = buildBase([tarOf([{ path: "etc/toolchain", content: "gcc 14\n" }])], {
      Env: ["PATH=/toolchain/bin:/usr/bin", "CC=gcc"],
    });
    await pushBase(registry.origin, "tests/toolchain", "v1", toolchain);
    base = `${registry.host}/tests/toolchain@${toolchain.digest}`;
  });
  afterAll(async () => {
    await registry?.stop();
    await rm(scratch, { recursive: true, force: true });
  });

  const build = (directory: string, on: string) =>
    buildImage({
      checkout: join(import.meta.dirname, "..", ".."),
      directory: join(scratch, directory),
      name: `${registry.host}/tests/grange:v1`,
      base: on,
      programs: [],
      registries: parseRegistries(registry.origin),
      credentials: new Map(),
    });

  test("is sent to a registry, from which a worker opens it with the files and variables of both", async () => {
    const reference = parseImageReference(`${registry.host}/tests/grange:v1`);
    const { layout, manifest, blobs } = await build("image", base);
    const client = new RegistryClient({
      registries: parseRegistries(registry.origin),
      credentials: new Map(),
      fetch,
      architecture: process.arch,
    });
    const gibibyte = 2 ** 30;
    const limits = { bytes: gibibyte, entries: 100_000, storeBytes: gibibyte };
    const store = await ImageStore.open(join(scratch, "store"), client, limits);

    // Twice: the second time the registry has all blobs.
    for (let times = 0; times < 2; times++)
      await pushImage(layout, manifest, blobs, {
        origin: registry.origin,
        reference,
        credentials: new Map(),
      });
    const opened = await store.use(`${registry.host}/tests/grange:v1`);

    expect(opened.digest).toBe(manifest.digest);
    expect(readFileSync(join(opened.root, "etc/toolchain"), "utf8")).toBe("gcc 14\n");
    expect(existsSync(join(opened.root, "opt/grange/bin/grange.mjs"))).toBe(true);
    expect(Object.fromEntries(opened.environment)).toMatchObject({
      PATH: "/toolchain/bin:/usr/bin",
      CC: "gcc",
      GRANGE_HOST: "0.0.0.0",
    });
    opened.release();
  });

  test("is refused on a base without a digest", async () => {
    await expect(build("by-tag", `${registry.host}/tests/toolchain:v1`)).rejects.toThrow(
      "has no digest: write NAME@sha256:",
    );
  });
});
