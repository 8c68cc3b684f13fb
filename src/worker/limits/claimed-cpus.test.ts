import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownOwner } from "#machine/owner.ts";
import { type CpuLoads, chooseCpus } from "./choose-cpus.ts";
import { claimCpus } from "./claimed-cpus.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "grange-cpus-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const two = (loads: CpuLoads) => chooseCpus([0, 1, 2, 3], new Map(), loads, 2);

test("workers that share a directory have separate CPUs while there are enough", async () => {
  const [one, other] = [await claimCpus(dir, two), await claimCpus(dir, two)];

  expect(one.cpus).toEqual([0, 1]);
  expect(other.cpus).toEqual([2, 3]);
  expect((await claimCpus(dir, two)).cpus).toHaveLength(2);
});

test("released CPUs are available to others, and no record stays", async () => {
  const one = await claimCpus(dir, two);
  (await claimCpus(dir, two)).giveUp();
  one.giveUp();

  expect(readdirSync(dir)).toEqual([]);
  expect((await claimCpus(dir, two)).cpus).toEqual([0, 1]);
});

test("the CPUs and the lock of a dead worker are free", async () => {
  const gone = `999999999-1-${ownOwner().split("-")[2]}`;
  writeFileSync(join(dir, `${gone}~gone`), "0,1");
  writeFileSync(join(dir, "lock"), gone);

  expect((await claimCpus(dir, two)).cpus).toEqual([0, 1]);
  expect(readdirSync(dir)).toHaveLength(1);
});

test("of four that start at once, none gets fewer CPUs than available", async () => {
  const script = `
    const { claimCpus } = await import(${JSON.stringify(new URL("./claimed-cpus.ts", import.meta.url).pathname)});
    const { chooseCpus } = await import(${JSON.stringify(new URL("./choose-cpus.ts", import.meta.url).pathname)});
    process.stdin.once("data", () => {
      const cpus = Array.from({ length: 4 }, (_, i) => i);
      claimCpus(${JSON.stringify(dir)}, (loads) => chooseCpus(cpus, new Map(), loads, 1)).then(({ cpus }) => console.log(cpus[0]));
      process.stdin.once("data", () => process.exit());
    });
    console.log("ready");
  `;
  const children = Array.from({ length: 4 }, () =>
    spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  );
  try {
    const line = async (child: (typeof children)[number]) =>
      String((await once(child.stdout, "data"))[0]).trim();
    await Promise.all(children.map(line));
    const chosen = children.map(line);
    for (const child of children) child.stdin.write("go\n");

    expect((await Promise.all(chosen)).map(Number).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
  } finally {
    for (const child of children) child.kill("SIGKILL");
  }
});
