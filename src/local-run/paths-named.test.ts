import { expect, test } from "vitest";
import { pathsNamed } from "./paths-named.ts";

const absent = ["bin/tool.mjs", "migrations/001.sql", "test/a/x.ts", "test/b/x.ts", "README.md"];

test.each<[log: string, named: string[]]>([
  ["cat: bin/tool.mjs: No such file or directory", ["bin/tool.mjs"]],
  ["Error: Cannot find module '/grange/work/bin/tool.mjs'", ["bin/tool.mjs"]],
  ["Error: Cannot find module '../../bin/tool.mjs'", ["bin/tool.mjs"]],
  ["ls: cannot access 'migrations': No such file or directory", ["migrations"]],
  ["could not open ./README.md.", ["README.md"]],
  ["running bin/tool.mjs of migrations", []],
  ["cannot find what it wants", []],
])("%s", (log, named) => {
  expect(pathsNamed(log, absent)).toEqual(named);
});
