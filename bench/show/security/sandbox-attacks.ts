import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundledProgram } from "../../../src/worker/run-jobs.fixture.ts";
import { sandboxNeeds } from "../../../src/worker/sandbox-needs.fixture.ts";
import { asOrdinaryUser } from "../../../test/isolation/sandbox-attacks/attack-needs.ts";
import { tryAttacks } from "../../../test/isolation/sandbox-attacks/try-attacks.ts";
import type { Measurement, Row } from "../row.ts";

/** The attacks of jobs on both sandboxes, as root and as an ordinary user. */
export const sandboxAttacks: Measurement = {
  title: "attacks of jobs on sandboxes",
  long: false,
  async measure() {
    const directory = mkdtempSync(join(tmpdir(), "grange-attacks-"));
    try {
      const program = join(directory, "run-jobs.mjs");
      writeFileSync(program, await bundledProgram());
      chmodSync(directory, 0o755);
      const isRoot = process.getuid?.() === 0;
      const users = isRoot
        ? [
            { user: "root", asUser: [] },
            { user: "an ordinary user", asUser: asOrdinaryUser },
          ]
        : [{ user: "an ordinary user", asUser: [] }];
      const rows: Row[] = [];
      for (const { sandbox, need } of await sandboxNeeds(["bubblewrap", "namespaces"])) {
        for (const { user, asUser } of users) {
          const name = `sandbox attacks: ${sandbox}, worker of ${user}`;
          if (need.missing !== undefined) rows.push(notHere(name, need.missing));
          else rows.push(rowOf(name, await tryAttacks({ sandbox, asUser, program })));
        }
      }
      return rows;
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

function rowOf(
  name: string,
  { tried, fell, promised, facilities }: Awaited<ReturnType<typeof tryAttacks>>,
): Row {
  const broken = fell.filter((attack) => promised.includes(attack));
  return {
    name,
    figure: `${tried.length - fell.length} of ${tried.length} held`,
    unit: "",
    goal: "≥ 60 tried, all held or listed",
    holds: broken.length === 0 && tried.length >= 60,
    how: [
      "each attack as a job of a real worker",
      ...(broken.length === 0 ? [] : [`fell: ${broken.join(", ")}`]),
      `listed as not stopped: ${facilities["not stopped"]}`,
    ].join("; "),
  };
}

function notHere(name: string, missing: string): Row {
  return { name, figure: null, unit: "", goal: "all held or listed", holds: false, how: missing };
}
