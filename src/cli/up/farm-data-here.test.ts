import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { farmDataHere } from "./farm-data-here.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "grange-farm-data-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function folder(...names: string[]): string {
  const path = join(root, ...names);
  mkdirSync(path, { recursive: true });
  return path;
}

function farmIn(...names: string[]): string {
  const path = folder(...names);
  writeFileSync(join(path, "farm.key"), "");
  return path;
}

const nowhere = { named: undefined, here: folder("nowhere"), used: [folder("nowhere", "w")] };

describe("a worker finds the data of a farm", () => {
  test("that its own directory lies in, however deep, and before that is made", () => {
    const farm = farmIn("inside");

    expect(farmDataHere({ ...nowhere, used: [join(farm, "workers")] })).toEqual([farm]);
    expect(farmDataHere({ ...nowhere, used: [join(farm, "a", "b", "c")] })).toEqual([farm]);
  });

  test("that its token is kept in", () => {
    const farm = farmIn("with-token");

    const used = [join(root, "elsewhere"), join(farm, "worker-token")];
    expect(farmDataHere({ ...nowhere, used })).toEqual([farm]);
  });

  test("that the environment names, also before it holds anything", () => {
    const empty = folder("empty");

    expect(farmDataHere({ ...nowhere, named: empty })).toEqual([empty]);
    expect(farmDataHere({ ...nowhere, here: root, named: "empty" })).toEqual([empty]);
  });

  test("that `grange up` keeps in the checkout it stands in", () => {
    const farm = farmIn("checkout", ".grange-data");

    expect(farmDataHere({ ...nowhere, here: folder("checkout", "src", "deep") })).toEqual([farm]);
  });

  test("at its real place, and each once", () => {
    const farm = farmIn("real");
    symlinkSync(farm, join(root, "link"));
    const used = [join(farm, "workers"), join(farm, "worker-token")];

    expect(farmDataHere({ ...nowhere, named: join(root, "link"), used })).toEqual([farm]);
  });
});

test("a worker beside no farm hides nothing more", () => {
  expect(farmDataHere({ ...nowhere, named: join(root, "is-not-there") })).toEqual([]);
});
