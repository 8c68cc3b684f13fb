import { expect, test } from "vitest";
import { definitionText } from "./definition-text.ts";

test("a definition reads as it was written", () => {
  const definition = {
    commands: ["npm ci", "npm test"],
    platform: { OSFamily: "linux" },
    outputs: [],
    inputs: [{ job: "build", path: "dist" }],
    script: "a\nb\n",
    odd: "yes: no",
    network: false,
  };

  expect(definitionText(definition)).toBe(`commands:
  - npm ci
  - npm test
platform:
  OSFamily: linux
outputs: []
inputs:
  - job: build
    path: dist
script: |
  a
  b
odd: "yes: no"
network: false`);
});
