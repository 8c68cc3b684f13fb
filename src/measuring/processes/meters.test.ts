import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { gnuTime } from "../../../test/support/needs/machine-needs.ts";
import { needs } from "../../../test/support/needs/needs.ts";
import { programs } from "../../../test/support/needs/program.ts";
import { metersFor } from "./meters.ts";

const needOf = {
  perl: programs("perl", { programs: ["perl"], packages: ["perl-base"] }),
  time: gnuTime,
  bash: programs("bash", { programs: ["bash"], packages: ["bash"] }),
} as const;

for (const meter of metersFor(process.arch)) {
  test(
    `${meter.name} reports what a command used, passes on its output, and gives it no more files`,
    needs(needOf[meter.name]),
    async () => {
      const script =
        "const b = Buffer.alloc(150e6, 1); let x = 0; for (let i = 0; i < 3e8; i++) x += i;" +
        "console.log('out'); console.error('err');" +
        "try { require('node:fs').writeSync(3, 'forged'); } catch {}; process.exit(b[0] + 6)";
      const [program = "", ...args] = meter.commandLine(["node", "-e", script]);

      const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe", "pipe"] });
      const read = (at: number) => text(child.stdio[at] as Readable);
      const exited = new Promise((resolve) => child.once("exit", resolve));
      const [out, err, report] = await Promise.all([read(1), read(2), read(3)]);

      expect([out, err]).toEqual(["out\n", "err\n"]);
      const usage = meter.read(report);
      expect(usage).toMatchObject({ exitCode: 7 });
      expect(await exited).toBe(7);
      expect(usage?.userSeconds).toBeGreaterThan(0.05);
      expect(usage?.wallSeconds).toBeGreaterThan(usage?.userSeconds ?? 1);
      // Bash does not report memory.
      expect(usage?.maxRssBytes ?? 200e6).toBeGreaterThan(180e6);
      expect(usage?.maxRssBytes === undefined).toBe(meter.name === "bash");
    },
  );
}

test.each(metersFor(process.arch).map((meter) => ({ name: meter.name, meter })))(
  "$name takes no garbled report for one",
  ({ meter }) => {
    for (const report of ["", "1", "a b c d e", "1 2 3", "1 2 3 4 5 6"]) {
      expect(meter.read(report)).toBeUndefined();
    }
  },
);
