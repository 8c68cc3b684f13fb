import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bubblewrap, root } from "../../test/support/needs/machine-needs.ts";
import { needs } from "../../test/support/needs/needs.ts";
import { measureTest } from "./measure-test.ts";
import { openWorkshop, suiteOf, theCase } from "./measuring.fixture.ts";
import { withoutSandbox } from "./processes/tools.ts";

const signal = new AbortController().signal;

/** Tries actions that only root may do, and actions that a benchmark needs; prints errors, and fails. */
const attempts = `#!/bin/sh
wrong() { echo "$1"; exit 1; }
head -c 1 /grange/artifact/of-root >/dev/null 2>&1 && wrong "reads a file of root"
{ v=$(cat /proc/sys/kernel/core_pattern); echo "$v" > /proc/sys/kernel/core_pattern; } 2>/dev/null && wrong "writes core_pattern"
read -r inside outside count </proc/self/uid_map
[ "$inside $outside" = "1000 0" ] && wrong "is root of the machine"
grep -q "NoNewPrivs:.1" /proc/self/status || wrong "may gain rights"
echo more >> input/given || wrong "cannot change its source"
for place in . input /grange/out /grange/state "$HOME" /tmp; do : > $place/made || wrong "cannot write in $place"; done
`;

test(
  "benchmarks of root do not have root's rights on the machine",
  needs(root, bubblewrap),
  async () => {
    const shop = await openWorkshop("bubblewrap");
    onTestFinished(() => shop.close());
    const artifact = await shop.artifact("a", { tool: attempts, "of-root": "a secret" }, "tool");
    await chmod(join(artifact.directory, "of-root"), 0o600);
    const suite = suiteOf({
      benchmark: {
        files: { "input/given": "given\n" },
        patches: { small: { file: "input/given", append: "patched\n" } },
      },
      compile: {
        command: ["{tool}"],
        scenarios: { incremental: { warm: true, patch: "small" } },
      },
    });

    const iterations = await measureTest({
      suite,
      case: { ...theCase, scenario: "incremental" },
      artifact,
      place: shop.place,
      signal,
    });

    expect(iterations).toHaveLength(1);
  },
);

test("programs are not measured as root without a sandbox, unless it is explicitly allowed", () => {
  const none = { complaint: "bwrap is not installed" };

  expect(() => withoutSandbox({ ...none, isRoot: true, allowsRoot: false })).toThrow(
    /would run as root: bubblewrap does not work here \(bwrap is not installed\).*--no-sandbox/,
  );
  expect(withoutSandbox({ ...none, isRoot: true, allowsRoot: true })).toContain(
    "without a sandbox, as root",
  );
  expect(withoutSandbox({ ...none, isRoot: false, allowsRoot: false })).toContain("as your user");
});
