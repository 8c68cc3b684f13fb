import { expect, test } from "vitest";
import { whyUnserved } from "./why-unserved.ts";

const linux = { platform: { OSFamily: "linux", gpu: "none" }, sizeClass: 2, workers: 3 };
const mac = { platform: { OSFamily: "macos", gpu: "m2" }, sizeClass: 8, workers: 1 };
const asking = (requirements: Record<string, string>, sizeClass = 1) => ({
  requirements,
  sizeClass,
});

test("returns nothing when one worker could run the execution, even if it is busy", () => {
  expect(whyUnserved(asking({ OSFamily: "Linux" }, 2), [mac, linux])).toBeUndefined();
  expect(whyUnserved(asking({}), [mac])).toBeUndefined();
  expect(whyUnserved(asking({ network: "on" }), [mac])).toBeUndefined();
});

test("names the missing property, and the values that workers have", () => {
  expect(whyUnserved(asking({ gpu: "a100" }), [linux, mac])).toBe(
    "it asks for gpu=a100, and workers offer gpu=m2, none; start a worker that offers gpu=a100, or change what the action asks for",
  );
  expect(whyUnserved(asking({ pool: "x" }), [linux])).toContain("no worker offers pool");
  expect(whyUnserved(asking({ OSFamily: "linux", gpu: "m2" }), [linux, mac])).toContain(
    "workers with it lack another requested property",
  );
});

test("explains how a worker runs images", () => {
  const image = { "container-image": "docker://docker.io/library/node:22" };

  expect(whyUnserved(asking(image), [linux])).toContain(
    "it needs container images, and no worker that could run it runs them; list their registries with `grange worker --registries`",
  );
  expect(
    whyUnserved(asking(image), [{ ...linux, platform: { "grange-images": "oci" } }]),
  ).toBeUndefined();
});

test("names the size class that no worker has", () => {
  expect(whyUnserved(asking({ OSFamily: "linux" }, 4), [linux, mac])).toContain(
    "it asks for size class 4 or more, but suitable workers have at most size class 2;",
  );
});

test("names the fence that excludes the execution", () => {
  const fenced = {
    ...linux,
    platform: { ...linux.platform, pool: "hw", "grange-only-for": "pool" },
  };

  expect(whyUnserved(asking({ OSFamily: "linux" }), [fenced])).toBe(
    "suitable workers accept only actions that ask for pool=hw; ask for it, or start a worker without --only-for",
  );
  expect(whyUnserved(asking({ pool: "hw" }), [fenced])).toBeUndefined();
});

test("says that there are no workers", () => {
  expect(whyUnserved(asking({ gpu: "a100" }), [])).toContain("no worker is connected");
  expect(whyUnserved(asking({}), [])).toContain("no worker is connected");
});

test("does not list hundreds of values", () => {
  const many = Array.from({ length: 300 }, (_, n) => ({ ...linux, platform: { gpu: `g${n}` } }));

  expect(whyUnserved(asking({ gpu: "a100" }), many)).toContain("and 290 more");
});
