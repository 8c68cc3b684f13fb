import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attackNames } from "#worker/attacks/attack-list.ts";
import { bundledProgram } from "#worker/run-jobs.fixture.ts";
import { sandboxNeeds } from "#worker/sandbox-needs.fixture.ts";
import { root } from "../../support/needs/machine-needs.ts";
import { needs } from "../../support/needs/needs.ts";
import { asOrdinaryUser, attackTools } from "./attack-needs.ts";
import { provenNames, tryAttacks } from "./try-attacks.ts";

/** Every user may read the program in this directory. */
const directory = mkdtempSync(join(tmpdir(), "grange-attacks-"));
const program = join(directory, "run-jobs.mjs");
beforeAll(async () => {
  writeFileSync(program, await bundledProgram());
  chmodSync(directory, 0o755);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const own = process.getuid?.() === 0 ? "root" : "an ordinary user";
const users = [
  { user: own, asUser: [], needed: attackTools },
  ...(own === "root"
    ? [{ user: "an ordinary user", asUser: asOrdinaryUser, needed: attackTools }]
    : []),
];

test("the list has at least 60 attacks, and at least 40 of them prove themselves", () => {
  expect(attackNames.length).toBeGreaterThanOrEqual(60);
  expect(provenNames.length).toBeGreaterThanOrEqual(40);
});

test(
  "without a sandbox the attacks succeed, so their scripts work",
  needs(root, ...attackTools),
  async () => {
    const { tried, fell } = await tryAttacks({ sandbox: "none", asUser: [], program });

    expect(fell).toEqual(provenNames.toSorted(byList));
    expect(tried).toEqual(fell);
  },
);

for (const { sandbox, need } of await sandboxNeeds(["bubblewrap", "namespaces"])) {
  for (const { user, asUser, needed } of users) {
    test(
      `a worker of ${user} with ${sandbox} stops what the list promises`,
      needs(need, ...needed),
      async () => {
        const { promised, fell, tried } = await tryAttacks({ sandbox, asUser, program });

        expect(tried.length).toBe(attackNames.length);
        expect(fell.filter((name) => promised.includes(name))).toEqual([]);
        // A list that promises nothing would hold, too.
        expect(promised.length).toBeGreaterThan(60);
      },
    );
  }
}

function byList(one: (typeof attackNames)[number], other: (typeof attackNames)[number]): number {
  return attackNames.indexOf(one) - attackNames.indexOf(other);
}
