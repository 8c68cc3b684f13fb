import { describe, expect, test } from "vitest";
import { everybody, type Grant, type Principal } from "#access/principal.ts";
import { requireGrant } from "#access/require-grant.ts";
import { Verb } from "#core/verb.ts";
import type { BranchRules } from "./admit-priority.ts";
import { admit, type WantedOnBranch } from "./may-run-on-branch.ts";

const open: BranchRules = { protected: false, customisable: true, priorityCap: null };
const release: BranchRules = { protected: true, customisable: false, priorityCap: 100 };
const where = { repository: "rxjs", branch: "release" };
const signers = [{ keyId: "0".repeat(16), name: "release-2026", signedAt: new Date(0) }];

function alice(...grants: readonly Partial<Grant>[]): Principal {
  const plain = { verb: "*", repository: "*", branch: "*", priorityCap: null, top: false } as const;
  return { name: "alice", grants: grants.map((each) => ({ ...plain, ...each })) };
}

function wanted(part: Partial<WantedOnBranch> = {}): WantedOnBranch {
  return {
    branch: release,
    signers,
    customised: false,
    requestedPriority: undefined,
    top: false,
    principal: alice({}),
    where,
    ...part,
  };
}

describe("a protected branch", () => {
  test("runs signed definitions, exactly as they were signed", () => {
    expect(admit(wanted())).toEqual({ ok: true, priority: 0, cap: 100 });
    expect(admit(wanted({ requestedPriority: 100 }))).toMatchObject({ ok: true, priority: 100 });
  });

  test.each<[string, Partial<WantedOnBranch>, string]>([
    [
      "what nobody signed",
      { signers: [], catalog: "abc/1" },
      "release of rxjs is protected and runs signed definitions only, and no trusted key has signed these: `grange sign abc/1 --key FILE`",
    ],
    [
      "a patch",
      { customised: true },
      "release of rxjs is protected and runs definitions as they were signed: customise on another branch, or clone without the changes",
    ],
    [
      "a patch, though somebody says that it is customisable",
      { customised: true, branch: { ...release, customisable: true } },
      "runs definitions as they were signed",
    ],
    [
      "a patch by everybody who may do everything",
      { customised: true, principal: everybody },
      "as they were signed",
    ],
    [
      "a value that its branch definition does not say",
      { chosen: ["channel", "pgo"], filled: "def/2", principal: alice({ verb: "submit" }) },
      "is protected, so only its settings can give a value to channel, pgo: omit them, ask for " +
        "`grange grant add alice define --repository rxjs --branch release`, or have the resulting definitions signed: `grange sign def/2 --key FILE`",
    ],
    [
      "a priority above its cap",
      { requestedPriority: 101 },
      "priority 101 is above the cap of release of rxjs, 100: ask for 100 or less, or for none",
    ],
    [
      "a priority above the submitter's cap",
      { requestedPriority: 51, principal: alice({ priorityCap: 50 }) },
      "priority 51 is above the cap of alice, 50",
    ],
    [
      "the top class without a grant that has it",
      { top: true },
      "alice may not use the top class on release of rxjs: ask for `grange grant add alice prioritise --repository rxjs --branch release --top`",
    ],
  ])("refuses %s", (_, part, refusal) => {
    expect(admit(wanted(part))).toEqual({ ok: false, refusal: expect.stringContaining(refusal) });
  });

  test("rejects the release of a breakpoint by a principal without that grant there", () => {
    const elsewhere = alice({ verb: "release", branch: "main" }, { verb: "submit" });

    expect(() => requireGrant(elsewhere, "release", where)).toThrow(
      "alice may not release on release of rxjs: ask an administrator of the farm to run " +
        "`grange grant add alice release --repository rxjs --branch release`",
    );
    expect(() =>
      requireGrant(alice({ verb: "release", branch: "rel*" }), "release", where),
    ).not.toThrow();
  });

  test.each(Verb.options)("rejects to %s for a principal with every other grant", (verb) => {
    const others = Verb.options.filter((other) => other !== verb).map((other) => ({ verb: other }));

    expect(() => requireGrant(alice(...others), verb, where)).toThrow(`alice may not ${verb} on`);
  });

  test("allows the top class for a principal whose grant has it", () => {
    const principal = alice({ verb: "submit", top: true });

    expect(admit(wanted({ top: true, principal }))).toMatchObject({ ok: true });
  });
});

describe("elsewhere", () => {
  test.each<[string, Partial<WantedOnBranch>, object]>([
    ["nothing needs a signature", { signers: [] }, { priority: 0, cap: null }],
    ["customising with the grant", { customised: true }, { priority: 0, cap: null }],
    [
      "a priority above the branch's cap is lowered with a word",
      { branch: { ...open, priorityCap: 10 }, requestedPriority: 40 },
      {
        priority: 10,
        cap: 10,
        notice: "priority 40 was lowered to 10, the cap of release of rxjs",
      },
    ],
    [
      "a priority above the submitter's cap is lowered with a word",
      { requestedPriority: 40, principal: alice({ priorityCap: 20 }) },
      { priority: 20, cap: 20, notice: "priority 40 was lowered to 20, the cap of alice" },
    ],
    [
      "the lowest of all caps counts",
      {
        branch: { ...open, priorityCap: 10 },
        requestedPriority: 40,
        principal: alice({ priorityCap: 5 }),
      },
      { priority: 5, cap: 5, notice: "priority 40 was lowered to 5, the cap of alice" },
    ],
    [
      "who asks for no priority gets the usual one, or a lower cap without a word",
      { principal: alice({ priorityCap: -5 }) },
      { priority: -5, cap: -5 },
    ],
    [
      "less than a cap stays",
      { branch: { ...open, priorityCap: 10 }, requestedPriority: -3 },
      { priority: -3, cap: 10 },
    ],
  ])("%s", (_, part, expected) => {
    expect(admit(wanted({ branch: open, ...part }))).toEqual({ ok: true, ...expected });
  });

  test.each<[string, Partial<WantedOnBranch>, string]>([
    [
      "customising where the branch does not allow it",
      { customised: true, branch: { ...open, customisable: false } },
      "the settings of release of rxjs do not allow customised jobs",
    ],
    [
      "customising without a grant",
      { customised: true, principal: alice({ verb: "submit" }) },
      "alice may not customise on release of rxjs: ask for `grange grant add alice customise --repository rxjs --branch release`",
    ],
    ["the top class without a grant that has it", { top: true }, "may not use the top class"],
  ])("%s is refused", (_, part, refusal) => {
    expect(admit(wanted({ branch: open, ...part }))).toEqual({
      ok: false,
      refusal: expect.stringContaining(refusal),
    });
  });
});
