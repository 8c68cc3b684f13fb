import { describe, expect, test } from "vitest";
import type { Grant } from "#access/principal.ts";
import { ForgePolicy } from "../forge-policy.ts";
import { personAtForge } from "../forge-principal.ts";
import { aPull } from "../outbox/remembered-forge.fixture.ts";
import { type CommandCircumstances, type CommandEffect, decideCommand } from "./decide-command.ts";

const head = aPull.head;
const other = "c".repeat(40);

function circumstances(
  line: string,
  more: {
    readonly permission?: CommandCircumstances["permission"];
    readonly author?: string;
    readonly policy?: Record<string, unknown>;
    readonly grants?: readonly Grant[];
    readonly pull?: Partial<CommandCircumstances["pull"]>;
    readonly command?: Partial<CommandCircumstances["command"]>;
  } = {},
): CommandCircumstances {
  const { permission = "write", author = "octocat", grants = [] } = more;
  const policy = ForgePolicy.parse({ suite: "demo", ...more.policy });
  return {
    command: {
      repository: "demo",
      author,
      command: line,
      edited: false,
      head,
      headSeenAt: new Date(0),
      createdAt: new Date(3_600_000),
      ...more.command,
    },
    pull: { ...aPull, approvedHead: null, ...more.pull },
    permission,
    policy,
    by: personAtForge(`${author}@github`, "demo", permission, policy, grants),
    farmGrants: grants,
    name: "grange",
  };
}

const decide = (...asked: Parameters<typeof circumstances>) =>
  decideCommand(circumstances(...asked));
const fork = { isFork: true } as const;
const textOf = (effect: CommandEffect) =>
  effect.kind === "answer" ? effect.answer.text : undefined;

describe("permission", () => {
  test.each(["bench", "build 0123456", "retrigger", "cancel"])(
    "%s, writes here, as the policy usually says",
    (words) => {
      const kind = words.split(" ")[0];

      expect(decide(`@grange ${words}`)).toMatchObject({ kind: kind === "build" ? "bench" : kind });
      expect(decide(`@grange ${words}`, { permission: "triage" })).toMatchObject({
        answer: { state: "refused", text: expect.stringContaining("permission `write`") },
      });
      expect(decide(`@grange ${words}`, { permission: "read" })).toEqual({
        kind: "answer",
        answer: { state: "refused", reaction: "-1", text: undefined },
      });
    },
  );

  test("follows the policy, separately for each command", () => {
    const policy = { commands: { bench: "nobody", build: "read", approve: "admin" } };

    expect(decide("@grange bench", { policy, permission: "admin" })).toMatchObject({
      answer: { state: "refused", text: expect.stringContaining("needs a right on the farm") },
    });
    expect(decide("@grange build 0123456", { policy, permission: "read" }).kind).toBe("bench");
    expect(decide("@grange approve", { policy, permission: "maintain", pull: fork })).toMatchObject(
      {
        answer: { state: "refused" },
      },
    );
  });

  test("also comes from a grant of the farm, whatever the forge says, but only for that grant's commands", () => {
    const grant = (verb: Grant["verb"], more: Partial<Grant> = {}): Grant => ({
      verb,
      repository: "*",
      branch: "*",
      priorityCap: null,
      top: false,
      ...more,
    });
    const as = (...grants: Grant[]) => ({ permission: "none" as const, grants });

    expect(decide("@grange bench", as(grant("benchmark"))).kind).toBe("bench");
    expect(decide("@grange cancel", as(grant("benchmark"))).kind).toBe("answer");
    expect(decide("@grange cancel", as(grant("cancel", { repository: "demo" }))).kind).toBe(
      "cancel",
    );
    expect(decide("@grange cancel", as(grant("cancel", { repository: "x" }))).kind).toBe("answer");
    expect(decide("@grange cancel", as(grant("cancel", { branch: "main" }))).kind).toBe("answer");
    expect(decide("@grange approve", { ...as(grant("*")), pull: fork }).kind).toBe("approve");
  });

  test("refusals have a reason only for known users: strangers cannot make the farm write text", () => {
    for (const line of ["@grange bench", "@grange nonsense", "@grange help", "@grange bench x=y"]) {
      expect(textOf(decide(line, { permission: "read" }))).toBeUndefined();
      expect(textOf(decide(line, { permission: "triage" }))).toBeDefined();
      expect(textOf(decide(line, { permission: "read", author: "Mona" }))).toBeDefined();
    }
  });

  test("is never given to a name that no principal can have", () => {
    expect(decideCommand({ ...circumstances("@grange bench"), by: undefined })).toMatchObject({
      answer: { state: "refused" },
    });
  });
});

describe("an approval", () => {
  test("applies to the head at the time of the comment", () => {
    expect(decide("@grange approve", { pull: fork })).toMatchObject({ kind: "approve", head });
  });

  test.each([
    {
      what: "the head moved after the comment was read",
      command: {},
      pull: { ...fork, head: other },
      says: /The head has moved since: it is `cccccccccccc` now/,
    },
    {
      what: "it is not known whether that head existed when it was written",
      command: { headSeenAt: null },
      pull: fork,
      says: /The farm cannot determine whether `aaaaaaaaaaaa` was already the head/,
    },
    {
      what: "that head came while it was typed",
      command: { headSeenAt: new Date(3_600_000 - 59_000) },
      pull: fork,
      says: /The head came 59 s before this comment/,
    },
  ])("is refused when $what", ({ command, pull, says }) => {
    const effect = decide("@grange approve", { command, pull });

    expect(textOf(effect)).toMatch(says);
    expect(textOf(effect)).toContain(`@grange approve ${"head" in pull ? pull.head : head}\``);
  });

  test("with a commit needs no check of times, and applies only to that commit", () => {
    const command = { headSeenAt: null };

    expect(decide(`@grange approve ${head}`, { command, pull: fork })).toMatchObject({ head });
    expect(textOf(decide(`@grange approve ${other}`, { command, pull: fork }))).toMatch(
      /`c{40}` is not the head any more/,
    );
  });

  test("with a short commit id counts like one without, because other commits can have the same beginning", () => {
    const pushedMeanwhile = { ...fork, head: `${head.slice(0, 12)}${"e".repeat(28)}` };
    const short = `@grange approve ${head.slice(0, 12)}`;

    expect(decide(short, { pull: fork })).toMatchObject({ kind: "approve", head });
    expect(textOf(decide(short, { pull: pushedMeanwhile }))).toMatch(/The head has moved/);
    expect(textOf(decide(short, { command: { headSeenAt: null }, pull: fork }))).toMatch(
      /The farm cannot determine/,
    );
  });

  test("is only for forks", () => {
    expect(textOf(decide("@grange approve"))).toMatch(/Nothing waits for an approval here/);
  });
});

describe("measuring", () => {
  test("uses the head at the time when the comment was read", () => {
    const effect = decide("@grange bench queue backends=llvm", { pull: { head: other } });

    expect(effect).toMatchObject({
      kind: "bench",
      suite: "demo",
      sha: head,
      isToWait: true,
      choice: { backends: ["llvm"] },
    });
  });

  test.each([
    {
      approvedHead: null,
      policy: {},
      says: /it is measured only after .* `@grange approve a{40}`/,
    },
    { approvedHead: other, policy: {}, says: /it is measured only after/ },
    {
      approvedHead: head,
      policy: { forkBench: "never" },
      says: /Commits of forks are not measured/,
    },
  ])(
    "of a fork waits for the approval of its head: $approvedHead",
    ({ approvedHead, policy, says }) => {
      expect(textOf(decide("@grange bench", { pull: { ...fork, approvedHead }, policy }))).toMatch(
        says,
      );
    },
  );

  test("of another commit of a fork is rejected, whether or not the head is approved", () => {
    const approved = { ...fork, approvedHead: head };

    expect(decide("@grange bench", { pull: approved }).kind).toBe("bench");
    expect(decide("@grange build aaaaaaa", { pull: approved })).toMatchObject({ sha: head });
    expect(textOf(decide("@grange build ccccccc", { pull: approved }))).toMatch(
      /Of a fork only the head/,
    );
    expect(textOf(decide("@grange bench", { pull: approved, command: { head: other } }))).toMatch(
      /Of a fork only the head/,
    );
  });

  test("requires a suite", () => {
    expect(textOf(decide("@grange bench", { policy: { suite: undefined } }))).toMatch(
      /no suite is set for it/,
    );
  });
});

describe("the farm does nothing", () => {
  test("for a comment that was edited before it was read", () => {
    expect(decide("@grange cancel", { command: { edited: true } })).toMatchObject({
      answer: { state: "refused", reaction: "confused", text: undefined },
    });
  });

  test.each(["closed", "merged"] as const)("on a pull request that is %s", (state) => {
    expect(textOf(decide("@grange cancel", { pull: { state } }))).toContain(`is ${state}`);
    expect(textOf(decide("@grange help", { pull: { state } }))).toContain(
      "Write one command in each comment",
    );
  });
});
