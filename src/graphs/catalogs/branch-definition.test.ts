import { expect, test } from "vitest";
import type { BranchBody } from "#api/branch.ts";
import { resolveBranch } from "./branch-definition.ts";

const open = {
  protected: false,
  customisable: true,
  priorityCap: null,
  switches: {},
  parameters: {},
  source: { kind: "commit" },
};

test.each<{
  what: string;
  generic?: BranchBody;
  own?: BranchBody;
  holds: object;
}>([
  { what: "nothing is said", holds: open },
  {
    what: "all branches have a cap",
    generic: { priorityCap: 10 },
    holds: { ...open, priorityCap: 10 },
  },
  {
    what: "a branch takes the cap of all away",
    generic: { priorityCap: 10 },
    own: { priorityCap: null },
    holds: { ...open, priorityCap: null },
  },
  {
    what: "switches and parameters are inherited one by one",
    generic: { switches: { pgo: true, l10n: true }, parameters: { level: 1 } },
    own: { switches: { pgo: false }, parameters: { depth: 2 } },
    holds: { ...open, switches: { pgo: false, l10n: true }, parameters: { level: 1, depth: 2 } },
  },
  {
    what: "a protected branch is not customisable",
    own: { protected: true },
    holds: { ...open, protected: true, customisable: false },
  },
  {
    what: "a branch that protects itself does not inherit that all are customisable",
    generic: { customisable: true },
    own: { protected: true },
    holds: { ...open, protected: true, customisable: false },
  },
  {
    what: "one branch of a protected repository is not protected",
    generic: { protected: true },
    own: { protected: false },
    holds: open,
  },
  {
    what: "another source of definitions",
    generic: { source: { kind: "directory", path: "/defs" } },
    holds: { ...open, source: { kind: "directory", path: "/defs" } },
  },
])("$what", ({ generic, own, holds }) => {
  expect(resolveBranch(generic, own)).toEqual(holds);
});
