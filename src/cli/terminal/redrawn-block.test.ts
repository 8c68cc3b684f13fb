import { expect, test } from "vitest";
import { redrawnBlock } from "./redrawn-block.ts";

/** A simulated terminal, which understands only the sequences of the block. */
function screen() {
  const lines: string[] = [""];
  let row = 0;
  return {
    lines: () => lines.filter((line) => line !== ""),
    write: (text: string) => {
      for (const part of text.match(/\p{Cc}\[\??\d*[A-Za-z]|\n|[^\p{Cc}]+/gu) ?? []) {
        if (part === "\n") row += 1;
        else if (part.endsWith("A")) row -= Number(part.slice(2, -1));
        else if (part.endsWith("J")) lines.splice(row);
        else if (!/^\p{Cc}/u.test(part)) lines[row] = part;
      }
    },
  };
}

test("a block is drawn over itself, also when it shrinks, and lines stay above it", () => {
  const { lines, write } = screen();
  const block = redrawnBlock(write);

  block.draw(["one", "two", "three"]);
  block.draw(["ONE", "TWO"]);
  expect(lines()).toEqual(["ONE", "TWO"]);

  block.clear();
  write("a line\n");
  block.draw(["One"]);
  block.leave();
  write("after\n");
  expect(lines()).toEqual(["a line", "One", "after"]);
});

test("what did not change is not sent again, and the cursor comes back", () => {
  const sent: string[] = [];
  const block = redrawnBlock((text) => sent.push(text));

  block.draw(["one"]);
  block.draw(["one"]);
  block.leave();
  block.leave();

  expect(sent).toHaveLength(2);
  expect(sent[1]).toBe("\u001b[?25h");
});
