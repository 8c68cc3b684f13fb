import { expect, test } from "vitest";
import { execLine, unitText } from "./unit-text.ts";

test.each([
  { words: ["/usr/bin/node", "server"], expected: "/usr/bin/node server" },
  { words: ["/opt/my node", "a"], expected: '"/opt/my node" a' },
  { words: ["100%", "$HOME"], expected: "100%% $$HOME" },
  { words: ['say "hi"', "back\\slash"], expected: '"say \\"hi\\"" "back\\\\slash"' },
  { words: [""], expected: '""' },
])("the words $words become $expected", ({ words, expected }) => {
  expect(execLine(words)).toBe(expected);
});

test("a unit has its sections and settings in order", () => {
  const text = unitText({
    unit: [
      ["After", "a.service"],
      ["After", "b.service"],
    ],
    service: [["CapabilityBoundingSet", ""]],
    install: [["WantedBy", "default.target"]],
  });

  expect(text).toBe(
    "[Unit]\nAfter=a.service\nAfter=b.service\n\n[Service]\nCapabilityBoundingSet=\n\n[Install]\nWantedBy=default.target\n",
  );
});
