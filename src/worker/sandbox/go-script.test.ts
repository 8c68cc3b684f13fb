import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { goScript } from "./go-script.ts";

/** Returns the arguments, environment and directory of a program that replaced a shell. */
function seenBy(shell: string, environment: Record<string, string>, ...more: string[]) {
  const show =
    "process.stdout.write(JSON.stringify([process.argv.slice(1), process.env, process.cwd()]))";
  const script = goScript({
    arguments: [process.execPath, "-e", show, "--", ...more],
    environment: new Map(Object.entries(environment)),
    directory: "/usr",
  });
  const printed = execFileSync(shell, ["-s"], { input: script, env: {}, encoding: "utf8" });
  const [args, env, directory] = JSON.parse(printed);
  return { args, env, directory };
}

test.each(["/bin/sh", "/bin/bash"])("%s becomes a command with all its letters", (shell) => {
  const odd = [
    "",
    "a b",
    "'",
    '"$(exit 1)`\\',
    "two\nlines",
    "é\u{1F600}",
    "-n",
    "x".repeat(70_000),
  ];
  const environment = {
    A: "it's\n$A",
    "a.b-c": "odd name",
    "-u": "option",
    UID: "7",
    IFS: "x",
    EMPTY: "",
  };

  const { args, env, directory } = seenBy(shell, environment, ...odd);

  expect(args).toEqual(odd);
  const { PWD: _, _: __, SHLVL: ___, OLDPWD: ____, ...others } = env;
  expect(others).toEqual(environment);
  expect(directory).toBe("/usr");
});

test("a missing program ends with 127", () => {
  const script = goScript({ arguments: ["no-such"], environment: new Map(), directory: "/" });

  expect(() => execFileSync("/bin/sh", ["-s"], { input: script, stdio: "pipe" })).toThrow(
    expect.objectContaining({ status: 127 }),
  );
});
