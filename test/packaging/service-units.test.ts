import { accessSync, constants, existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type Need, needs } from "../support/needs/needs.ts";
import { programs } from "../support/needs/program.ts";
import { runProgram } from "../support/process.ts";
import { grangeJson } from "../support/run-grange.ts";

const Planned = z.array(z.object({ unitName: z.string(), unitText: z.string() }));

const systemdAnalyze = programs("systemd-analyze", {
  programs: ["systemd-analyze"],
  packages: ["systemd"],
});

/** If systemd does not run, systemd-analyze creates it, as root outside of a sandbox. */
const systemdDirectory: Need = {
  name: "the directory /run/systemd, or the right to make it",
  missing:
    existsSync("/run/systemd") || mayWrite("/run") ? undefined : "this user may not write to /run",
  remedy: { kind: "root" },
};

function mayWrite(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Writes the units that `grange service install` prints, as files for systemd-analyze. */
async function unitsOf(words: readonly string[]): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), "grange-units-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const planned = Planned.parse(
    await grangeJson(["service", "install", ...words, "--dry-run"], {
      env: { HOME: directory, XDG_CONFIG_HOME: join(directory, "with space") },
    }),
  );
  return Promise.all(
    planned.map(async ({ unitName, unitText }) => {
      const file = join(directory, unitName);
      await writeFile(file, unitText);
      return file;
    }),
  );
}

test.for([
  { whose: "the machine", words: ["--system"] },
  { whose: "a user", words: ["--user", "server", "worker", "granary"] },
])(
  "systemd accepts each setting of the units of $whose",
  needs(systemdAnalyze, systemdDirectory),
  async ({ words }) => {
    const units = await unitsOf(words);

    const { code, stdout, stderr } = await runProgram("systemd-analyze", [
      "verify",
      "--man=no",
      ...units,
    ]);

    expect({ code, said: stdout + stderr }).toEqual({ code: 0, said: "" });
  },
);

test(
  "systemd accepts the unit of a collector in benchmarks.md, which always restarts it",
  needs(systemdAnalyze, systemdDirectory),
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "grange-units-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const text = await readFile(join(import.meta.dirname, "../../docs/benchmarks.md"), "utf8");
    const unit = /```ini\n(?<unit>[^`]+grange collector run[^`]+)```/.exec(text)?.groups?.["unit"];
    const file = join(directory, "collector.service");
    await writeFile(file, (unit ?? "").replace("/usr/bin/grange", process.execPath));

    const { code, stdout, stderr } = await runProgram("systemd-analyze", [
      "verify",
      "--man=no",
      file,
    ]);

    expect({ code, said: stdout + stderr }).toEqual({ code: 0, said: "" });
    expect(unit).toMatch(/^Restart=always$/m);
    expect(unit).toContain("--update-command");
  },
);

test(
  "systemd finds the server well protected",
  needs(systemdAnalyze, systemdDirectory),
  async () => {
    const [server = ""] = await unitsOf(["--system"]);
    const options = ["--offline=yes", "--no-pager", "--threshold=20"];

    const { code, stdout } = await runProgram("systemd-analyze", ["security", ...options, server]);

    expect({ code, said: code === 0 ? "" : stdout }).toEqual({ code: 0, said: "" });
  },
);
