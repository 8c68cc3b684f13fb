import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runProgram } from "../run-program.ts";

const grange = resolve(import.meta.dirname, "../../../bin/grange.mjs");
let home: string;

const suite = {
  suite: "small",
  artifacts: { from: "nowhere" },
  backends: { sh: { tool: ["{artifact}/compile"] } },
  targets: { [`${process.platform}-${process.arch}`]: {} },
  metrics: {
    nodes: { take: { from: "output", pattern: "^nodes: (\\d+)" }, nature: "exact", unit: "count" },
    size: { take: { from: "size", of: "{out}" }, nature: "exact", unit: "bytes" },
    "user-time": { take: { from: "user-time" }, nature: "noisy", unit: "seconds" },
    speed: {
      take: { from: "output", pattern: "^speed: (\\d+)" },
      nature: "noisy",
      unit: "per-second",
      better: "higher",
    },
  },
  headline: "nodes",
  compile: {
    command: ["{tool}", "{source}/in.txt", "{out}/out.txt"],
    profiles: { check: {}, emit: { args: ["--emit"] } },
    benchmarks: {
      one: { files: { "in.txt": "a\nb\n" } },
      two: { files: { "in.txt": "a\nb\nc\n" }, args: ["--hard"] },
    },
  },
  iterations: { timed: 2 },
};

/** A "compiler": counts lines, and copies them if it is to emit output. */
const compiler = (extra: string) => `#!/bin/sh
n=$(wc -l < "$1")
${extra}
echo "nodes: $n"
echo "speed: $((\${speed:-1000} + $(od -An -N1 -tu1 /dev/urandom) / 3))"
case "$*" in *--emit*) cp "$1" "$2";; esac
`;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "grange-bench-test-"));
  // Its own lock, because this machine may measure something else meanwhile.
  vi.stubEnv("GRANGE_MEASURING_LOCK", join(home, "measuring.lock"));
  await mkdir(join(home, ".grange", "bench"), { recursive: true });
  // JSON is YAML.
  await writeFile(join(home, ".grange", "bench", "small.yml"), JSON.stringify(suite));
  const versions = {
    old: "",
    new: 'n=$((n * 2)); speed=500; case "$*" in *--hard*) echo "no more" >&2; exit 7;; esac',
  };
  for (const [name, extra] of Object.entries(versions)) {
    await mkdir(join(home, name));
    await writeFile(join(home, name, "compile"), compiler(extra));
    await chmod(join(home, name, "compile"), 0o755);
  }
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

function bench(...words: string[]) {
  return runProgram(process.execPath, [grange, "bench", ...words, "--data", join(home, "data")], {
    cwd: home,
  });
}

test("measures folders, keeps the results, compares them, and takes turns for what is noisy", async () => {
  const ran = await bench("run", "--artifact", "./old", "--out", join(home, "old.json"));
  expect(ran.stderr).toContain("stored as old");
  expect(ran.exitCode).toBe(0);
  expect(ran.stdout).toMatch(/two emit sh +3 /);

  // One benchmark fails: the others are measured, and the output shows the failure.
  const broken = await bench("run", "--artifact", "./new", "--json");
  expect(broken.exitCode).toBe(1);
  const result = JSON.parse(broken.stdout);
  expect(result.tests).toHaveLength(4);
  expect(result.tests.filter(({ error }: { error: unknown }) => error === null)).toHaveLength(2);
  const failed = result.tests.find(({ error }: { error: unknown }) => error !== null);
  expect(failed.error).toMatch(/exit code 7\ncommand: .*--hard\nno more/);
  expect(result.tests[0].iterations).toHaveLength(2);

  // By tag, and by file.
  const compared = await bench("compare", join(home, "old.json"), "new");
  expect(compared.stderr).not.toContain("rror");
  expect(compared.stdout).toContain("old → new");
  expect(compared.stdout).toMatch(/\+100 % +regressed, very large +nodes +one check sh +2 +4/);
  expect(compared.stdout).toMatch(/broken +two: exit code 7/);
  expect(compared.stdout).toMatch(/too noisy for a verdict from separate runs/);
  expect(compared.stdout).not.toMatch(/one emit sh +2 B/);

  const measured = await bench("compare", "old", "new", "--measure", "--metric", "speed", "--json");
  expect(measured).toMatchObject({ exitCode: 0 });
  const { cases } = JSON.parse(measured.stdout);
  expect(cases).toHaveLength(2);
  for (const each of cases) {
    expect(each).toMatchObject({
      metric: "speed",
      verdict: "regressed",
      evidence: { by: "pairs", confirmed: true },
    });
  }
  const [kept] = await readdir(join(home, "data", "pairs"));
  expect(JSON.parse(await readFile(join(home, "data", "pairs", kept ?? ""), "utf8"))).toMatchObject(
    {
      before: "old",
      after: "new",
    },
  );
});

test.each([
  [["run", "--artifact", "./old", "--benchmark", "three"], /no benchmark three; it has one, two/],
  [["run", "--artifact", "./gone"], /there is no .*gone/],
  [["run", "--artifact", "1.2.3"], /has no source of artifacts/],
  [["compare", "old", "never"], /never has not been measured here/],
  [["run", "--artifact", "./old", "--suite", "other"], /no suite other.*there is small/],
])("%j is refused with what would help", async (words, sentence) => {
  const refused = await bench(...words);

  expect(refused.exitCode).not.toBe(0);
  expect(refused.stderr).toMatch(sentence);
});

test("lists what it would measure", async () => {
  const listed = await bench("run", "--artifact", "./old", "--list", "--profile", "emit");

  expect(listed.stdout.trim().split("\n")).toEqual(["one emit sh", "two emit sh"]);
});
