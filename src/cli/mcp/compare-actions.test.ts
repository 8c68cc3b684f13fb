import { expect, test } from "vitest";
import { type ActionFacts, compareActions } from "./compare-actions.ts";

const action: ActionFacts = {
  actionDigest: "a/1",
  inputRoot: "b/1",
  command: {
    arguments: ["cc", "-O1", "a.c"],
    environment: { PATH: "/usr/bin" },
    platform: { os: "linux" },
    workingDirectory: "",
  },
};
const withCommand = (changed: Partial<NonNullable<ActionFacts["command"]>>): ActionFacts => ({
  ...action,
  command: action.command && { ...action.command, ...changed },
});

test.each([
  { other: action, sentences: [] },
  {
    other: withCommand({ arguments: ["cc", "-O2", "a.c", "b.c"] }),
    sentences: ['argument 1 was "-O1" and is "-O2"'],
  },
  {
    other: withCommand({ environment: { LANG: "C" } }),
    sentences: [
      'environment: LANG was not there and is "C"',
      'environment: PATH was "/usr/bin" and is not there',
    ],
  },
  {
    other: withCommand({ platform: { os: "darwin" }, workingDirectory: "out" }),
    sentences: [
      'platform: os was "linux" and is "darwin"',
      'the working directory was "" and is "out"',
    ],
  },
  { other: { ...action, inputRoot: "c/1" }, sentences: ["input files differ"] },
  { other: { ...action, command: null }, sentences: [] },
])("differences are $sentences", ({ other, sentences }) => {
  expect(compareActions(action, other).map(({ sentence }) => sentence)).toEqual(sentences);
});
