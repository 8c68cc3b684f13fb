import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TrustDomain } from "#core/trust-domain.ts";
import { everybody, type Grant, type Principal, PrincipalName } from "../principal.ts";
import { type CommitStanding, domainFor, domainOfPull, domainOfUser } from "./domain-for.ts";
import { domainOfClient, mayKeep, requireMayKeep } from "./domain-of-client.ts";
import { pullOfRef } from "./pull-of-ref.ts";

const grant = (verb: Grant["verb"], more: Partial<Grant> = {}): Grant => ({
  verb,
  repository: "*",
  branch: "*",
  priorityCap: null,
  top: false,
  ...more,
});
const ada: Principal = { name: "ada", grants: [grant("submit")] };
const root: Principal = { name: "root", grants: [grant("*")] };
const stranger: Principal = { name: "anyone", grants: [grant("submit")] };

const commit: CommitStanding = {
  repository: "owner/name",
  branch: "",
  onBranch: "nobody watches",
  by: ada,
};

describe("the domain of a commit's graph", () => {
  test.each<[string, Partial<CommitStanding>, string]>([
    ["a pull request's head", { ref: "refs/pull/7/head" }, "pr/7@owner/name"],
    ["its trial merge", { ref: "refs/pull/7/merge" }, "pr/7@owner/name"],
    [
      "a pull request's head, whoever asks, for whatever branch",
      { ref: "refs/pull/7/head", branch: "main", onBranch: "seen", by: everybody },
      "pr/7@owner/name",
    ],
    ["a branch that nobody watches", { branch: "main" }, "protected"],
    ["a commit seen on its branch", { branch: "main", onBranch: "seen" }, "protected"],
    ["a commit not seen on its branch", { branch: "main", onBranch: "not seen" }, "user/ada"],
    [
      "the same, by an administrator",
      { branch: "main", onBranch: "not seen", by: root },
      "user/root",
    ],
    ["a tag", { ref: "refs/tags/v1" }, "protected"],
    ["a tag that is not there any more", { ref: "refs/tags/v1", onBranch: "not seen" }, "user/ada"],
    ["steps back from a branch", { ref: "refs/heads/main" }, "protected"],
    ["a ref that is no branch", { ref: "refs/changes/1/2/3" }, "user/ada"],
    ["a bare commit", {}, "user/ada"],
    ["a bare commit on an open farm", { by: everybody }, "protected"],
    ["a bare commit of somebody without a token on a closed farm", { by: stranger }, "user/anyone"],
  ])("of %s", (_, standing, expected) => {
    expect(domainFor({ ...commit, ...standing })).toBe(expected);
  });

  test("of a repository with a long name is still one of its own", () => {
    const long = `owner/${"x".repeat(300)}`;

    expect(domainOfPull(long, 7)).not.toBe(domainOfPull(`${long}y`, 7));
    expect(domainOfPull(long, 7)).toMatch(/^pr\/7@[0-9a-f]{64}$/);
  });

  test("of two repositories' pull requests of one number is not the same", () => {
    expect(domainOfPull("a/b", 7)).not.toBe(domainOfPull("a/c", 7));
  });

  test("is never another's, and protected only of a branch or tag, or on an open farm", () => {
    const standing = fc.record({
      repository: fc.constantFrom("a/b", "c"),
      branch: fc.constantFrom("", "main", "refs/pull/7/head", "protected"),
      ref: fc.constantFrom(
        undefined,
        "refs/heads/main",
        "refs/tags/v1",
        "refs/pull/7/head",
        "refs/pull/8/merge",
        "refs/notes/x",
      ),
      onBranch: fc.constantFrom("seen", "not seen", "nobody watches"),
      by: fc.constantFrom(ada, root, everybody, stranger),
    });
    const isRight = (each: CommitStanding) => {
      const domain = domainFor(each);
      const pull = each.ref === undefined ? undefined : pullOfRef(each.ref);
      if (pull !== undefined) return domain === domainOfPull(each.repository, pull);
      if (domain !== "protected") return domain === domainOfUser(each.by.name);
      const isNamed = each.branch !== "" || /^refs\/(heads|tags)\//.test(each.ref ?? "");
      return each.by === everybody || (isNamed && each.onBranch !== "not seen");
    };
    fc.assert(
      fc.property(standing, (each) => {
        expect(isRight(each as CommitStanding)).toBe(true);
      }),
    );
  });
});

test.each([
  ["refs/pull/7/head", 7],
  ["refs/pull/123456789/merge", 123_456_789],
  ["refs/pull/1234567890/head", undefined],
  ["refs/pull/7/heads", undefined],
  ["refs/pull/-7/head", undefined],
  ["refs/pull/7/head\n", undefined],
  ["pull/7/head", undefined],
  ["refs/heads/refs/pull/7/head", undefined],
])("%j is of pull request %s", (ref, expected) => {
  expect(pullOfRef(ref)).toBe(expected);
});

test("every principal has a domain, and no two the same", () => {
  const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/);
  fc.assert(
    fc.property(name, name, (a, b) => {
      const [one, other] = [a, b].map((each) => domainOfUser(PrincipalName.parse(each)));
      expect(TrustDomain.safeParse(one).success).toBe(true);
      expect(one === other).toBe(a === b);
    }),
  );
});

describe("the domain of a client", () => {
  const writer: Principal = { name: "ci", grants: [grant("cache", { repository: "mine" })] };

  test("is protected where it holds cache, and its own elsewhere", () => {
    expect(domainOfClient(writer, "mine")).toBe("protected");
    expect(domainOfClient(writer, "other")).toBe("user/ci");
    expect(domainOfClient(everybody, "mine")).toBe("protected");
    expect(domainOfClient(ada, "mine")).toBe("user/ada");
  });

  test("without a name, or without a right to write blobs, is nobody's to write in", () => {
    expect(mayKeep(stranger, "mine")).toBe(false);
    expect(() => requireMayKeep(stranger, "mine")).toThrow("may not cache in mine");
    expect(mayKeep(ada, "mine")).toBe(false);
    expect(mayKeep({ name: "bob", grants: [grant("execute")] }, "mine")).toBe(true);
    expect(mayKeep(everybody, "mine")).toBe(true);
  });
});
