import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { shellCommand, shellWord } from "../../web/pages/execution/shell-command.ts";

test("a real shell reads every argument unchanged", () => {
  const word = fc.string({ unit: "binary", maxLength: 12 }).filter((text) => !text.includes("\0"));
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 40 }), (words) => {
      const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
      const read = execFileSync("/bin/sh", ["-c", script]).toString();
      expect(read).toBe(words.map((each) => `${Buffer.from(each).toString()}\0`).join(""));
    }),
    { numRuns: 20 },
  );
});

test("the command contains its directory and its environment, and no other variables", () => {
  const command = {
    arguments: ["/bin/sh", "-c", 'echo "$A"'],
    environment: { A: "it's", PATH: "/bin" },
    workingDirectory: "a b",
    platform: {},
  };

  expect(shellCommand(command)).toBe(
    `cd 'a b' && env -i 'A=it'\\''s' PATH=/bin /bin/sh -c 'echo "$A"'`,
  );
});
