import { existsSync, readdirSync, readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { messageOf } from "#core/fault.ts";
import { bubblewrap } from "../../test/support/needs/machine-needs.ts";
import { type Need, needs } from "../../test/support/needs/needs.ts";
import { measureTest } from "./measure-test.ts";
import { openWorkshop, suiteOf, theCase, type Workshop } from "./measuring.fixture.ts";

const signal = () => new AbortController().signal;

/** Bubblewrap, installed and able to isolate a program here. */
const bubblewrapForPrograms: Need = {
  name: "bubblewrap around measured programs",
  missing: await openWorkshop("bubblewrap").then(
    async (opened): Promise<undefined> => {
      await opened.close();
      return undefined;
    },
    (reason: unknown) => messageOf(reason),
  ),
  remedy: bubblewrap.remedy,
};
const sandboxes = [
  { kind: "bubblewrap", all: [bubblewrapForPrograms] },
  { kind: "none", all: [] },
] as const;

for (const { kind, all } of sandboxes)
  describe(`with sandbox ${kind}`, needs(...all), () => {
    let shop: Workshop;
    beforeAll(async () => {
      shop = await openWorkshop(kind);
    });
    afterAll(() => shop.close());

    const measure = async (script: string, suite = suiteOf()) => {
      const artifact = await shop.artifact("tool", { run: `#!/bin/sh\n${script}` }, "run");
      return measureTest({ suite, case: theCase, artifact, place: shop.place, signal: signal() });
    };

    test("measures times, memory, lines of output, JSON and sizes", async () => {
      const suite = suiteOf({
        metrics: {
          "user-time": { take: { from: "user-time" }, nature: "noisy", unit: "seconds" },
          "wall-time": { take: { from: "wall-time" }, nature: "noisy", unit: "seconds" },
          "max-rss": { take: { from: "max-rss" }, nature: "noisy", unit: "bytes" },
          types: {
            take: { from: "output", pattern: "^Types:\\s+([\\d,]+)" },
            nature: "exact",
            unit: "count",
          },
          rate: { take: { from: "json", pointer: "/a/0/b" }, nature: "noisy", unit: "per-second" },
          emitted: { take: { from: "size", of: "{out}" }, nature: "exact", unit: "bytes" },
        },
        benchmark: { args: ["{out}"], env: { MORE: "1" } },
      });
      const script = [
        `node -e 'const b = Buffer.alloc(100e6, 1); let x = 0; for (let i = 0; i < 2e8; i++) x += i'`,
        'echo Types: 1,234; echo Types: 9; echo \'{"a": [{"b": 7.5}]}\'; echo after',
        'mkdir "$1/deep"; printf 12345 > "$1/deep/file"; ln -s / "$1/link"',
      ].join("\n");

      const [iteration] = await measure(script, suite);

      const values = iteration?.values ?? {};
      expect(values).toMatchObject({ types: 1234, rate: 7.5, emitted: 5 });
      expect(values["user-time"]).toBeGreaterThan(0.05);
      expect(values["wall-time"]).toBeGreaterThan(0.05);
      expect(values["max-rss"]).toBeGreaterThan(120e6);
      expect(values["max-rss"]).toBeLessThan(300e6);
    });

    test("further runs are numbered after the earlier ones", async () => {
      const suite = suiteOf({
        metrics: { "wall-time": { take: { from: "wall-time" }, nature: "noisy", unit: "seconds" } },
      });
      const artifact = await shop.artifact("tool", { run: "#!/bin/sh\nexit 0" }, "run");

      const iterations = await measureTest({
        suite,
        case: theCase,
        artifact,
        place: shop.place,
        signal: signal(),
        iterations: { counted: 4, timed: 4 },
        after: 3,
      });

      expect(iterations.map(({ iteration }) => iteration)).toEqual([4, 5, 6, 7]);
    });

    test("peaks of memory are the program's own, not the collector's", async () => {
      const ours = Buffer.alloc(300e6, 1);
      const suite = suiteOf({
        metrics: { "max-rss": { take: { from: "max-rss" }, nature: "noisy", unit: "bytes" } },
      });

      const [iteration] = await measure("exit 0", suite);

      expect(ours.length).toBe(300e6);
      expect(iteration?.values["max-rss"]).toBeLessThan(20e6);
    });

    test("gives a program a fixed environment, an empty stdin, and no open files", async () => {
      vi.stubEnv("SECRET_OF_A_TEST", "leaked");
      const script =
        'env | sort > env; cat > in; for fd in /proc/self/fd/*; do echo "$fd=$(readlink $fd)"; done > fd; cat env in fd; pwd';
      const suite = suiteOf({
        metrics: {
          n: { take: { from: "output", pattern: "(7)" }, nature: "exact", unit: "count" },
        },
        benchmark: { env: { MORE: "{state}" } },
        compile: { exitCodes: [3] },
      });

      const told = await measure(`${script}; exit 4`, suite).catch((reason: Error) => reason);

      const { message } = told as Error;
      expect(message).toContain("exit code 4");
      const names = message
        .split("\n")
        .filter((line) => /^[A-Za-z_]+=/.test(line))
        .map((line) => line.split("=")[0]);
      const mark = kind === "none" ? ["GRANGE_MEASURING"] : [];
      expect(names).toEqual([
        ...mark,
        "HOME",
        "LANG",
        "LC_ALL",
        "MORE",
        "PATH",
        "PWD",
        "TMPDIR",
        "TZ",
      ]);
      expect(message).not.toContain("leaked");
      vi.unstubAllEnvs();
      // The files that the test's own process had open are empty.
      const open = message.matchAll(/^\/proc\/self\/fd\/(\d+)=(.+)$/gm);
      const others = [...open].filter(([, fd, to]) => Number(fd) > 2 && to !== "/dev/null");
      expect(others.map(([line]) => line)).toEqual([]);
    });

    test("prepares, warms up, patches, and measures in the same folders", async () => {
      const suite = suiteOf({
        metrics: {
          n: { take: { from: "output", pattern: "^n=(\\d+)" }, nature: "exact", unit: "count" },
        },
        compile: {
          prepare: ["sh", "-c", "echo 1 >> {state}/log"],
          command: ["{tool}", "{state}", "{out}", "{source}"],
          scenarios: { patched: { warm: true, patch: "more" } },
        },
        benchmark: {
          files: { "src/a.txt": "1\n", "config.json": { a: 1 } },
          patches: { more: { file: "src/a.txt", append: "2\n" } },
        },
      });
      const script = [
        'cat src/a.txt >> "$1/log"; test -e config.json || exit 9',
        '[ -z "$(ls "$2")" ] || exit 8; touch "$2/made"',
        'echo "n=$(tr -d "\\n" < "$1/log")"',
      ].join("\n");
      const artifact = await shop.artifact("tool", { run: `#!/bin/sh\n${script}` }, "run");

      const [iteration] = await measureTest({
        suite,
        case: { ...theCase, scenario: "patched" },
        artifact,
        place: shop.place,
        signal: signal(),
        iterations: { timed: 1 },
      });

      // The value is from the prepared run, then the unchanged file, then the file with the patch.
      expect(iteration?.values["n"]).toBe(1112);
    });

    test("a failing benchmark reports its exit code, last output and command", async () => {
      await expect(measure("echo one; echo two >&2; exit 3")).rejects.toMatchObject({
        name: "Fault",
        message: expect.stringMatching(/exit code 3\ncommand: .*run\none\ntwo/),
      });
    });

    test("a missing program is a failure of the benchmark", async () => {
      const suite = suiteOf({ compile: { command: ["no-such-program"] } });
      await expect(measure("", suite)).rejects.toThrow(/exit code 127/);
    });

    test("a program that ignores SIGTERM and never ends is killed with its children at the timeout", async () => {
      const suite = suiteOf({ compile: { timeoutMinutes: 1 / 60 } });
      const script = "trap '' TERM; (trap '' TERM HUP; setsid sleep 4711) & sleep 4711";

      await expect(measure(script, suite)).rejects.toMatchObject({ code: "deadline_exceeded" });

      expect(runningWith("sleep\u00004711")).toBe(0);
    });

    test("an abort ends the program with all its children", async () => {
      const stop = new AbortController();
      const artifact = await shop.artifact("tool", { run: "#!/bin/sh\nsleep 4712" }, "run");
      const measuring = measureTest({
        suite: suiteOf(),
        case: theCase,
        artifact,
        place: shop.place,
        signal: stop.signal,
      });
      setTimeout(() => stop.abort(), 300);

      await expect(measuring).rejects.toMatchObject({ code: "cancelled" });
      expect(runningWith("sleep\u00004712")).toBe(0);
    });

    test("endless output is truncated in the middle, and ended above a limit", async () => {
      await expect(measure("exec yes")).rejects.toMatchObject({ code: "resource_exhausted" });

      const suite = suiteOf({
        metrics: {
          n: { take: { from: "output", pattern: "^end=(\\d+)" }, nature: "exact", unit: "count" },
        },
      });
      const [iteration] = await measure("yes | head -c 9000000; echo; echo end=5", suite);
      expect(iteration?.values).toEqual({ n: 5 });
    });

    test("a link that a warm run puts in place of a patched file is not followed", async () => {
      const outside = join(shop.directory, "outside");
      await writeFile(outside, "untouched");
      const suite = suiteOf({
        compile: { scenarios: { patched: { warm: true, patch: "p" } } },
        benchmark: {
          files: { "a.txt": "1" },
          args: [outside],
          patches: { p: { file: "a.txt", append: "x" } },
        },
      });
      const artifact = await shop.artifact("tool", { run: `#!/bin/sh\nln -sf "$1" a.txt` }, "run");

      const measuring = measureTest({
        suite,
        case: { ...theCase, scenario: "patched" },
        artifact,
        place: shop.place,
        signal: signal(),
      });

      await expect(measuring).rejects.toThrow(/neither a regular file/);
      expect(readFileSync(outside, "utf8")).toBe("untouched");
    });
  });

test("an unknown case is named", async () => {
  const shop = await openWorkshop();
  try {
    const artifact = await shop.artifact("tool", { run: "" }, "run");
    const asked = { suite: suiteOf(), artifact, place: shop.place, signal: signal() };
    await expect(
      measureTest({ ...asked, case: { ...theCase, benchmark: "constructor" } }),
    ).rejects.toThrow(/suite small has no case compile constructor/);
    await expect(openAgain(shop)).rejects.toThrow(/already measures on this machine/);
  } finally {
    await shop.close();
  }
});

async function openAgain(shop: Workshop) {
  const { openWorkPlace } = await import("./work-place.ts");
  return openWorkPlace({ directory: shop.place.directory, cache: shop.place.cache });
}

describe("in the sandbox", needs(bubblewrapForPrograms), () => {
  let shop: Workshop;
  beforeAll(async () => {
    shop = await openWorkshop("bubblewrap");
  });
  afterAll(() => shop.close());
  const measure = async (script: string, suite = suiteOf()) => {
    const artifact = await shop.artifact("tool", { run: `#!/bin/sh\n${script}` }, "run");
    return measureTest({ suite, case: theCase, artifact, place: shop.place, signal: signal() });
  };

  test("a program reaches neither files outside, nor the network, nor other processes", async () => {
    const outside = join(shop.directory, "secret");
    await writeFile(outside, "secret");
    await symlink(outside, join(shop.directory, "link"));
    const script = [
      `cat ${outside} /etc/shadow && exit 11`,
      `echo x > ${outside}`,
      "echo x > /usr/grange-was-here && exit 12",
      'echo x > "$(dirname "$0")/grange-was-here" && exit 13',
      "[ $(ls /sys/class/net 2>/dev/null | grep -vc '^lo$') = 0 ] || exit 14",
      `kill -0 ${process.pid} && exit 15`,
      `ls ${shop.directory} && exit 16`,
      "exit 0",
    ].join("\n");

    await measure(script);

    expect(readFileSync(outside, "utf8")).toBe("secret");
    expect(existsSync("/usr/grange-was-here")).toBe(false);
  });

  test("a program that starts thousands of processes is killed", async () => {
    // The script also has its own limit: these tests may run in a job, which may have 4,096 processes for all its tests
    // together.
    const bomb =
      "cd /tmp; mkfifo never; i=0; while [ $i -lt 2500 ]; do (read -r x <never) & i=$((i + 1)); done; sleep 60";

    await expect(measure(bomb)).rejects.toMatchObject({ code: "resource_exhausted" });

    expect(await measure("exit 0")).toHaveLength(1);
  });

  test("instructions are the program's own: neither the sandbox nor the meter is counted", async () => {
    const suite = suiteOf({
      metrics: {
        instructions: {
          take: { from: "instructions" },
          nature: "deterministic",
          unit: "instructions",
        },
      },
      backend: { instructions: { without: "cachegrind" } },
      compile: { command: ["/bin/true"] },
    });
    const outside = await openWorkshop("none");
    try {
      const counted = async (workshop: Workshop) => {
        const artifact = await workshop.artifact("tool", { run: "" }, "run");
        const [iteration] = await measureTest({
          suite,
          case: theCase,
          artifact,
          place: workshop.place,
          signal: signal(),
        });
        return iteration?.values["instructions"] ?? 0;
      };
      const [first, again, without] = [
        await counted(shop),
        await counted(shop),
        await counted(outside),
      ];

      expect(first).toBeGreaterThan(50_000);
      expect(again).toBe(first);
      // The dynamic loader reads paths and an environment of different lengths.
      expect(Math.abs(without - first) / first).toBeLessThan(0.02);
    } finally {
      await outside.close();
    }
  });
});

function runningWith(commandLine: string): number {
  return readdirSync("/proc").filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(commandLine)
      );
    } catch {
      return false;
    }
  }).length;
}
