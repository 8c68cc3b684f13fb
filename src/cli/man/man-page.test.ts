import { expect, test } from "vitest";
import { allCommands } from "../command-facts.ts";
import { manPage, programPage } from "./man-page.ts";

const commands = await allCommands({ entry: "", version: "1.2.3" });

const requests = new Set([
  ".TH",
  ".SH",
  ".SS",
  ".TP",
  ".PP",
  ".B",
  ".I",
  ".nf",
  ".fi",
  ".nh",
  ".ad",
  ".sp",
]);
const escapes = /\\(?:-|e|\(dq|&|f[IR]|\[u[0-9A-F]{4,6}\])/g;

/** Returns the lines that roff would not print as they are meant. */
function wrongLines(page: string): string[] {
  return page.split("\n").filter((line) => {
    if (/\P{ASCII}/u.test(line) || line.startsWith("'")) return true;
    if (line.startsWith(".") && !requests.has(line.split(" ")[0] ?? "")) return true;
    return line.replace(escapes, "").includes("\\");
  });
}

test.each(["grange", ...commands.map(({ name }) => name)])(
  "the page of %s is valid roff",
  (name) => {
    const command = commands.find((each) => each.name === name);
    const page = command === undefined ? programPage(commands, "1.2.3") : manPage(command, "1.2.3");

    expect(wrongLines(page)).toEqual([]);
    expect(page).toMatch(/^\.TH "GRANGE.*\n[^]*\n\.SH NAME\ngrange.* \\- .+\n\.SH SYNOPSIS\n/);
    expect(page).toContain(".SH EXIT STATUS\n.TP\n.B 0\n");
  },
);

test("options, parts and examples of a command are in its page", () => {
  const share = commands.find(({ name }) => name === "share");
  const page = share === undefined ? "" : manPage(share, "1.2.3");

  expect(page).toContain('.SH "GRANGE SHARE LOG"');
  expect(page).toContain("\\-\\-server <url>");
  expect(page).toContain("$ grange share log latest tests");
});
