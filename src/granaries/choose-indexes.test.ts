import { describe, expect, test } from "vitest";
import { chooseIndexes, type IndexCandidate } from "./choose-indexes.ts";

const commits = ["head", "p1", "p2", "p3", "p12"];
const at = (minute: number) => new Date(Date.UTC(2026, 10, 22, 12, minute));

function index(commit: string, changes: Partial<IndexCandidate> = {}): IndexCandidate {
  return {
    commit,
    tree: `tree of ${commit}`,
    branch: "",
    isComplete: true,
    updatedAt: at(0),
    ...changes,
  };
}

function chosen(candidates: readonly IndexCandidate[]) {
  const build = { commits, tree: "tree of head", branch: "main" };
  return chooseIndexes(candidates, build).map(
    ({ candidate, source, distance }) => `${source} ${candidate.commit} ${distance}`,
  );
}

describe("a build gets", () => {
  test.each<[string, IndexCandidate[], string[]]>([
    ["no index without candidates", [], []],
    ["no index of an unrelated commit", [index("stranger")], []],
    [
      "its own, then the nearest ancestors'",
      [index("p2"), index("head"), index("p1"), index("p3")],
      ["commit head 0", "ancestor p1 1", "ancestor p2 2"],
    ],
    [
      "its own before ancestors' although it is incomplete",
      [index("p1"), index("head", { isComplete: false })],
      ["commit head 0", "ancestor p1 1"],
    ],
    [
      "the same content's under another commit",
      [index("p1"), index("rebased", { tree: "tree of head" })],
      ["tree rebased 0", "ancestor p1 1"],
    ],
    [
      "a complete ancestor's before a somewhat nearer incomplete one's",
      [index("p1", { isComplete: false }), index("p3")],
      ["ancestor p3 3", "ancestor p1 1"],
    ],
    [
      "the branch's newest in the last place",
      [index("p1"), index("p2"), index("p3"), index("later", { branch: "main" })],
      ["ancestor p1 1", "ancestor p2 2", "branch later 0"],
    ],
    [
      "the branch's newest complete one",
      [
        index("newest", { branch: "main", updatedAt: at(9), isComplete: false }),
        index("old", { branch: "main", updatedAt: at(1) }),
        index("new", { branch: "main", updatedAt: at(5) }),
      ],
      ["branch new 0"],
    ],
    [
      "an ancestor that is the branch's newest once",
      [index("p1", { branch: "main" }), index("p2"), index("p3")],
      ["ancestor p1 1", "ancestor p2 2", "ancestor p3 3"],
    ],
  ])("%s", (_, candidates, expected) => {
    expect(chosen(candidates)).toEqual(expected);
  });

  test("the complete index of a distant ancestor only after the incomplete one of a near ancestor", () => {
    const far = Array.from({ length: 12 }, (_, n) => `p${n + 1}`);
    const candidates = [index("p1", { isComplete: false }), index("p12")];

    const [best] = chooseIndexes(candidates, { commits: ["head", ...far], tree: "", branch: "" });

    expect(best).toMatchObject({ candidate: { commit: "p1" }, distance: 1 });
  });
});
