import { expect, test } from "vitest";
import { sourceFileOf } from "./source-file-of.ts";

test.each([
  ["gcc -MD -MF a.d -c lib/a.cc -o a.o", "lib/a.cc"],
  ["rustc --crate-name app src/main.rs -o app", "src/main.rs"],
  ["gcc a.c b.c -o app", undefined],
  ["/bin/sh -c make", undefined],
  ["gcc -c", undefined],
  ["", undefined],
])("the source file of `%s` is %s", (command, file) => {
  expect(sourceFileOf(command.split(" "))).toBe(file);
});
